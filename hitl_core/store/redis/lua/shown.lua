-- Keep the newest version that a card shows: it never goes back.
-- KEYS 1 review (hash).  ARGV 1 field, 2 version.  Answers the newest.
local known = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0')
local drawn = tonumber(ARGV[2])
if drawn > known and redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('HDEL', KEYS[1], '')  -- also when memory is full: see write.lua
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  return drawn
end
return known
