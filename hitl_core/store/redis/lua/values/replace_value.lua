-- Replace a temporary value if nobody changed it.  KEYS 1 value (string)
-- ARGV 1 the known value 2 the new one, each "" for none 3 milliseconds
-- Returns 1, also if the new value is there already; or 0 if it is another one.
local now = redis.call('GET', KEYS[1]) or ''
if now ~= ARGV[1] and now ~= ARGV[2] then
  return 0
end
if ARGV[2] == '' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
end
return 1
