-- Hold a lane, or extend the lease.  KEYS 1 lease (string)  ARGV 1 bot 2 milliseconds
-- Returns 1, or 0 if another bot holds it.
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[1])  -- also when memory is full: see commit.lua
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
