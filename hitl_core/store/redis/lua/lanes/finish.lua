-- Finish a job. Only the bot that started it last can finish it. If another bot started any job of this card
-- meanwhile, it is not known whose message update came last, so the card is checked again.
-- KEYS 1 review (hash) 2 queue (zset) 3 queues (zset) 4 change counts (hash) 5 job starts (hash) 6 hints (stream)
-- ARGV 1 lane 2 member 3 note 4 token 5 place, or "" if the job was not of kind "card"
--      6 member of a check at once 7 its note 8 member of a later check 9 seconds until that, or ""
-- Returns 1, or 0 if another bot started a job of this card since.
local foreign = find_foreign_key('hash', 'zset', 'zset', 'hash', 'hash', 'stream')
if foreign then
  return foreign
end
local exists = redis.call('EXISTS', KEYS[1]) == 1
local now = clock()
redis.call('HDEL', KEYS[5], '')  -- makes the writes work when memory is full: see commit.lua
local latest = is_latest(KEYS[5], ARGV[2], ARGV[4])
if not latest and exists then
  add(KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[6], now, ARGV[7])
  wake(KEYS[6], ARGV[1])
end
if redis.call('HGET', KEYS[5], ARGV[2]) ~= ARGV[4] then
  return 0
end
redis.call('HDEL', KEYS[5], ARGV[2])
if exists and ARGV[5] ~= '' then
  redis.call('HSET', KEYS[1], 'have:' .. ARGV[5], '')
end
local score = tonumber(redis.call('ZSCORE', KEYS[2], ARGV[2]) or 0)
local is_later = is_later_check(ARGV[2]) and now < score  -- a later check that was added again meanwhile
if not exists or not is_later and (redis.call('HGET', KEYS[4], ARGV[2]) or '') == ARGV[3] then
  redis.call('ZREM', KEYS[2], ARGV[2])
  redis.call('HDEL', KEYS[4], ARGV[2])
elseif not is_later then
  redis.call('ZADD', KEYS[2], text(now), ARGV[2])  -- the card changed meanwhile
end
if exists and ARGV[9] ~= '' then
  add_later(KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[8], now + tonumber(ARGV[9]), ARGV[7])
end
update_queues(KEYS[2], KEYS[3], ARGV[1])
return latest and 1 or 0
