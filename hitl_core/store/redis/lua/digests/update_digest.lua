-- Record whether a review of a digest still waits, and queue the digest's message if that is a change.
-- KEYS 1 digest (hash) 2 queue (zset) 3 queues (zset) 4 change counts (hash) 5 hints (stream)
-- ARGV 1 lane 2 the digest's member 3 review, or "" to queue the message in any case 4 "1" if it waits
--      5 milliseconds to keep a digest where nothing waits
-- Returns 0 if the review waits and the digest will not show it: it has gone, was given up, or has no message.
local foreign = find_foreign_key('hash', 'zset', 'zset', 'hash', 'stream')
if foreign then
  return foreign
end
local waits, field = ARGV[4] == '1', 'wait:' .. ARGV[3]
if redis.call('EXISTS', KEYS[1]) == 0 then
  return waits and 0 or 1
end
redis.call('HDEL', KEYS[1], '')  -- makes the writes work when memory is full: see commit.lua
local changed = ARGV[3] == ''
if waits then
  if redis.call('HEXISTS', KEYS[1], 'closed') == 1 then
    return 0
  end
  if redis.call('HEXISTS', KEYS[1], field) == 1 then
    return 1
  end
  if redis.call('HEXISTS', KEYS[1], 'post') == 0 then
    return 0
  end
  redis.call('HSET', KEYS[1], field, text(clock()), 'new:' .. ARGV[3], '')  -- it may have left before the first post
  changed = true
elseif not changed then
  changed = redis.call('HDEL', KEYS[1], field, 'new:' .. ARGV[3]) > 0
end
if changed then
  digest_changed(KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], ARGV[1], ARGV[2], ARGV[5])
end
return 1
