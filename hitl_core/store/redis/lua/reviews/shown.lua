-- Record the newest version that a card shows. It never goes back.
-- KEYS 1 review (hash)  ARGV 1 field 2 version.  Returns the newest version.
local known = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0')
local version = tonumber(ARGV[2])
if version > known and redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('HDEL', KEYS[1], '')  -- makes the writes work when memory is full: see commit.lua
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  return version
end
return known
