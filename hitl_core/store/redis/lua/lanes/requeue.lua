-- Put one dead letter back into its queue, as a job with one earlier attempt. If two bots try at once, one succeeds.
-- KEYS 1 queue (zset) 2 queues (zset) 3 change counts (hash) 4 job starts (hash) 5 dead letters (stream)
--      6 dead letter counts (hash) 7 hints (stream)
-- ARGV 1 lane 2 member 3 stream entry 4 review
-- Returns 0 if it is no longer there; 2 for the last dead letter of its review, else 1.
local foreign = find_foreign_key('zset', 'zset', 'hash', 'hash', 'stream', 'hash', 'stream')
if foreign then
  return foreign
end
local letter = redis.call('XRANGE', KEYS[5], ARGV[3], ARGV[3])[1]
if not letter then
  return 0
end
redis.call('XDEL', KEYS[5], ARGV[3])
local left = count_down(KEYS[6], ARGV[4])
local score = 0
for i = 1, #letter[2], 2 do
  if letter[2][i] == 'score' then
    score = tonumber(letter[2][i + 1]) or 0
  end
end
redis.call('HSETNX', KEYS[4], ARGV[2], '1 0')
add(KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], score, nil)
wake(KEYS[7], ARGV[1])
return left <= 0 and 2 or 1
