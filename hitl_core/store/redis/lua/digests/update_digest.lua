-- Record whether a review of a digest still waits, and queue the digest's message if that is a change.
-- `review`: "" to queue the message in any case; `is_waiting`: "1" if it waits; `keep`: how many milliseconds a digest is
-- kept where nothing waits.
-- Returns 0 if the review waits and the digest will not show it: it has gone, was given up, or has no message.
local digest, queue, queues, change_counts, hints = unpack(KEYS)
local lane, digest_member, review, is_waiting, keep = unpack(ARGV)
local foreign = find_foreign_key('hash', 'zset', 'zset', 'hash', 'stream')
if foreign then
  return foreign
end
local waits, field = is_waiting == '1', 'wait:' .. review
if redis.call('EXISTS', digest) == 0 then
  return waits and 0 or 1
end
redis.call('HDEL', digest, '')  -- makes the writes work when memory is full: see commit.lua
local changed = review == ''
if waits then
  if redis.call('HEXISTS', digest, 'closed') == 1 then
    return 0
  end
  if redis.call('HEXISTS', digest, field) == 1 then
    return 1
  end
  if redis.call('HEXISTS', digest, 'post') == 0 then
    return 0
  end
  redis.call('HSET', digest, field, text(clock()), 'new:' .. review, '')  -- it may have left before the first post
  changed = true
elseif not changed then
  changed = redis.call('HDEL', digest, field, 'new:' .. review) > 0
end
if changed then
  digest_changed(digest, queue, queues, change_counts, hints, lane, digest_member, keep)
end
return 1
