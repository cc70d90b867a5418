-- Move a card that can't be shown to the dead letters, and count it for its review. Where the review changed
-- meanwhile it is tried once more instead. What is removed goes first, so that it can be done while memory is full;
-- and once: what is gone was buried or shown before.
-- KEYS 1 queue (zset) 2 queues (zset) 3 wants (hash) 4 begun (hash) 5 dead (stream) 6 letters (hash)
-- ARGV 1 lane 2 member 3 note 4 token 5 review 6 why
if redis.call('HGET', KEYS[4], ARGV[2]) ~= ARGV[4] then
  return
end
redis.call('HDEL', KEYS[4], ARGV[2])
alone(KEYS[4], ARGV[2], ARGV[4])
if (redis.call('HGET', KEYS[3], ARGV[2]) or '') ~= ARGV[3] then
  return
end
local score = redis.call('ZSCORE', KEYS[1], ARGV[2])
redis.call('ZREM', KEYS[1], ARGV[2])
redis.call('HDEL', KEYS[3], ARGV[2])
settle(KEYS[1], KEYS[2], ARGV[1])
redis.call('XADD', KEYS[5], '*', 'review', ARGV[5], 'lane', ARGV[1], 'member', ARGV[2], 'why', ARGV[6],
  'score', score or '0')
redis.call('HINCRBY', KEYS[6], ARGV[5], 1)
