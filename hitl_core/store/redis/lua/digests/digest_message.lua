-- Record a digest's message, if it still has the expected one: then each review that waits needs it as its own.
-- KEYS 1 digest (hash)  ARGV 1 message 2 expected, or ""
-- Returns the message that is recorded; nil if there is no digest.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return false
end
local known = redis.call('HGET', KEYS[1], 'post') or ''
if known ~= ARGV[2] then
  return known
end
redis.call('HDEL', KEYS[1], '')  -- makes the writes work when memory is full: see commit.lua
redis.call('HSET', KEYS[1], 'post', ARGV[1])
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.sub(field, 1, 5) == 'wait:' then
    redis.call('HSET', KEYS[1], 'new:' .. string.sub(field, 6), '')
  end
end
return ARGV[1]
