-- Start the first job of a queue. The job stays in the queue until it is finished; its token counts its starts.
-- KEYS 1 queue (zset) 2 change counts (hash) 3 job starts (hash)  ARGV 1 "post" or "draw" 2… members to skip
-- Returns {member, note, token}, or nil if there is no job to do now.
local foreign = find_foreign_key('zset', 'hash')
if foreign then
  return foreign
end
local from, to = '-inf', text(clock())
if ARGV[1] == 'post' then
  from, to = text(POSTS), '+inf'
end
local skip = {}
for i = 2, #ARGV do
  skip[ARGV[i]] = true
end
local member
for _, candidate in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], from, to, 'LIMIT', 0, #ARGV)) do
  if not skip[candidate] then
    member = candidate
    break
  end
end
if not member then
  return false
end
local last_token = redis.call('HGET', KEYS[3], member)
local attempts, first_at = 0, text(clock())
if last_token then
  attempts, first_at = string.match(last_token, '^(%d+) (%d+%.?%d*)')
  if not attempts then  -- it is damaged, so an earlier start may have shown the card
    attempts, first_at = 1, 0
  end
end
-- Two bots can start two jobs of one card: the entry `latest` has the time of the last start.
local started_at = text(clock())
local token = string.format('%d %s %s', tonumber(attempts) + 1, first_at, started_at)
redis.call('HDEL', KEYS[3], '')  -- makes the writes work when memory is full: see commit.lua
redis.call('HSET', KEYS[3], member, token, 'latest ' .. card_of(member), started_at)
return { member, redis.call('HGET', KEYS[2], member) or '', token }
