-- Begin the first card of a queue. It stays in the queue until it is finished, and says how often it was begun.
-- KEYS 1 queue (zset) 2 wants (hash) 3 begun (hash)  ARGV 1 "post" or "draw"
-- Answers {member, note, token}, or nil where nothing is to be done now.
local from, to = '-inf', text(clock())
if ARGV[1] == 'post' then
  from, to = text(POSTS), '+inf'
end
local member = redis.call('ZRANGEBYSCORE', KEYS[1], from, to, 'LIMIT', 0, 1)[1]
if not member then
  return false
end
local begun = redis.call('HGET', KEYS[3], member)
local times, since = 0, text(clock())
if begun then
  times, since = string.match(begun, '^(%d+) (%S+)')
end
-- Two jobs of one card may be begun by two bots: the card's last turn says whose drawing came last.
local turn = text(clock())
local token = string.format('%d %s %s', tonumber(times) + 1, since, turn)
redis.call('HDEL', KEYS[3], '')  -- also when memory is full: see write.lua
redis.call('HSET', KEYS[3], member, token, 'turn ' .. string.match(member, ' (.*)$'), turn)
return { member, redis.call('HGET', KEYS[2], member) or '', token }
