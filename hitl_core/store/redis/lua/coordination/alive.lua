-- Whether a process is alive.  KEYS 1 its key (string)  Returns 1 or 0.
local milliseconds = tonumber(redis.call('GET', KEYS[1]) or '')
if not milliseconds then
  return 0
end
local left = redis.call('PTTL', KEYS[1])
if left < 0 or left > milliseconds then
  redis.call('PEXPIRE', KEYS[1], milliseconds)  -- the server's clock was set back
end
return 1
