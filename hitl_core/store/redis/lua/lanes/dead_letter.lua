-- Move a job that can't be done to the dead letters, and count it for its review. If the card changed meanwhile, the
-- job stays in its queue instead, as one that was started once: the next attempt first looks for a message of the card.
-- The deletes come first, so that the script also works when memory is full. A job that is no longer there was finished
-- or moved before.
-- KEYS 1 queue (zset) 2 queues (zset) 3 change counts (hash) 4 job starts (hash) 5 dead letters (stream)
--      6 dead letter counts (hash)
-- ARGV 1 lane 2 member 3 note 4 token 5 review 6 reason 7 member of the letter
local foreign = find_foreign_key('zset', 'zset', 'hash', 'hash', 'stream', 'hash')
if foreign then
  return foreign
end
if redis.call('HGET', KEYS[4], ARGV[2]) ~= ARGV[4] then
  return
end
redis.call('HDEL', KEYS[4], ARGV[2])
is_latest(KEYS[4], ARGV[2], ARGV[4])
if (redis.call('HGET', KEYS[3], ARGV[2]) or '') ~= ARGV[3] then
  redis.call('HSET', KEYS[4], ARGV[2], '1 ' .. string.match(ARGV[4], '^%d+ (%S+)'))
  return
end
local score = redis.call('ZSCORE', KEYS[1], ARGV[2])
redis.call('ZREM', KEYS[1], ARGV[2])
redis.call('HDEL', KEYS[3], ARGV[2])
update_queues(KEYS[1], KEYS[2], ARGV[1])
redis.call('XADD', KEYS[5], '*', 'review', ARGV[5], 'lane', ARGV[1], 'member', ARGV[7], 'why', ARGV[6],
  'score', score or '0')
count_up(KEYS[6], ARGV[5])
