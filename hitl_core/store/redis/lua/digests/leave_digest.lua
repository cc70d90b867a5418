-- Take reviews out of a digest, which may be gone, and queue the first card of each. They never come back into a digest here.
-- KEYS 1 digest (hash) 2 queue (zset) 3 queues (zset) 4 change counts (hash) 5 hints (stream) 6… reviews (hashes)
-- ARGV 1 lane 2 place 3 the digest's member 4 the mark of its reviews 5 the mark that keeps a card out
--      6 milliseconds to keep a digest where nothing waits 7 "1" if the digest takes no more reviews 8… review, member
if type(redis.pcall('HLEN', KEYS[1])) == 'table' then
  redis.call('DEL', KEYS[1])  -- a value of another type is no digest, and its reviews must be able to leave
end
local foreign = find_foreign_key('hash', 'zset', 'zset', 'hash', 'stream', 'hash')
if foreign then
  return foreign
end
redis.call('HDEL', KEYS[1], '')  -- makes the writes work when memory is full: see commit.lua
if ARGV[7] == '1' and redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('HSET', KEYS[1], 'closed', '')
end
local changed = false
for i = 6, #KEYS do
  local review, member = ARGV[8 + 2 * (i - 6)], ARGV[9 + 2 * (i - 6)]
  local score = redis.call('HGET', KEYS[1], 'wait:' .. review)
  changed = redis.call('HDEL', KEYS[1], 'wait:' .. review, 'new:' .. review) > 0 or changed
  if redis.call('HDEL', KEYS[i], ARGV[4]) == 1 then
    -- The digest's message is not the card's.
    redis.call('HDEL', KEYS[i], 'have:' .. ARGV[2], 'post:' .. ARGV[2], 'shown:' .. ARGV[2])
    redis.call('HSET', KEYS[i], ARGV[5], '')
    redis.call('ZREM', KEYS[2], member)
    add(KEYS[2], KEYS[3], KEYS[4], ARGV[1], member, POSTS + (tonumber(score or '') or clock()), nil)
  end
end
if changed then
  digest_changed(KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], ARGV[1], ARGV[3], ARGV[6])
end
wake(KEYS[5], ARGV[1])
