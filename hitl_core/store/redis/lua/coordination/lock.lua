-- Take a lock that ends by itself.  KEYS 1 lock (string)  ARGV 1 milliseconds
-- Returns 1, or 0 if it is taken.
if redis.call('SET', KEYS[1], '', 'NX', 'PX', ARGV[1]) then
  return 1
end
local left = redis.call('PTTL', KEYS[1])
if left < 0 or left > tonumber(ARGV[1]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])  -- the server's clock was set back, or no bot wrote it
end
return 0
