-- Take reviews out of a digest, which may be gone, and queue the first card of each. They never come back into a digest here.
-- KEYS those below, then the reviews (hashes)  ARGV those below, then for each review: its id, the member of its card
-- `mark`: of the digest's reviews; `mark_out`: keeps a card out of digests; `keep`: how many milliseconds a digest is kept
-- where nothing waits; `is_closed`: "1" if the digest takes no more reviews.
local digest, queue, queues, change_counts, hints = unpack(KEYS, 1, 5)
local lane, place, digest_member, mark, mark_out, keep, is_closed = unpack(ARGV, 1, 7)
if is_wrong_type(redis.pcall('HLEN', digest)) then
  redis.call('DEL', digest)  -- a value of another type is no digest, and its reviews must be able to leave
end
local foreign = find_foreign_key('hash', 'zset', 'zset', 'hash', 'stream', 'hash')
if foreign then
  return foreign
end
redis.call('HDEL', digest, '')  -- makes the writes work when memory is full: see commit.lua
if is_closed == '1' and redis.call('EXISTS', digest) == 1 then
  redis.call('HSET', digest, 'closed', '')
end
local changed = false
for i = 6, #KEYS do
  local review, member = ARGV[8 + 2 * (i - 6)], ARGV[9 + 2 * (i - 6)]
  local score = redis.call('HGET', digest, 'wait:' .. review)
  changed = redis.call('HDEL', digest, 'wait:' .. review, 'new:' .. review) > 0 or changed
  if redis.call('HDEL', KEYS[i], mark) == 1 then
    -- The digest's message is not the card's.
    redis.call('HDEL', KEYS[i], 'have:' .. place, 'post:' .. place, 'shown:' .. place)
    redis.call('HSET', KEYS[i], mark_out, '')
    redis.call('ZREM', queue, member)
    add(queue, queues, change_counts, lane, member, POSTS + (tonumber(score or '') or clock()), nil)
  end
end
if changed then
  digest_changed(digest, queue, queues, change_counts, hints, lane, digest_member, keep)
end
wake(hints, lane)
