-- Take a lock that ends by itself.  KEYS 1 lock (string)  ARGV 1 milliseconds 2 owner, or ""
-- Returns 1, also if this owner has it already; or 0 if it is taken.
if redis.call('SET', KEYS[1], ARGV[2], 'NX', 'PX', ARGV[1]) then
  return 1
end
local left = redis.call('PTTL', KEYS[1])
if left < 0 or left > tonumber(ARGV[1]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])  -- the server's clock was set back, or no bot wrote it
end
local holder = redis.pcall('GET', KEYS[1])  -- a value of another type is nobody's
return ARGV[2] ~= '' and holder == ARGV[2] and 1 or 0
