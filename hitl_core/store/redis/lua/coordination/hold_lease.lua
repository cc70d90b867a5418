-- Hold a lane or a lock, or extend the lease.  KEYS 1 lease (string)  ARGV 1 holder 2 milliseconds
-- Returns 1, or 0 if another one holds it. The value has the holder's own time: others may ask for a shorter one.
local value = redis.pcall('GET', KEYS[1])  -- a value of another type is no lease
if type(value) == 'string' then
  local holder, milliseconds = string.match(value, '^(.*) (%d+)$')
  if holder ~= ARGV[1] then
    local left, longest = redis.call('PTTL', KEYS[1]), milliseconds or ARGV[2]
    if left < 0 or left > tonumber(longest) then
      redis.call('PEXPIRE', KEYS[1], longest)  -- the server's clock was set back, or no bot wrote it
    end
    return 0
  end
end
redis.call('DEL', KEYS[1])  -- makes the writes work when memory is full: see commit.lua
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. ARGV[2], 'PX', ARGV[2])
return 1
