-- Hold a lane or a lock, or extend the lease.  KEYS 1 lease (string)  ARGV 1 holder 2 milliseconds
-- Returns 1, or 0 if another one holds it.
local holder = redis.pcall('GET', KEYS[1])  -- a value of another type is no lease
if type(holder) == 'string' and holder ~= ARGV[1] then
  local left = redis.call('PTTL', KEYS[1])
  if left < 0 or left > tonumber(ARGV[2]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])  -- the server's clock was set back, or no bot wrote it
  end
  return 0
end
redis.call('DEL', KEYS[1])  -- makes the writes work when memory is full: see commit.lua
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
