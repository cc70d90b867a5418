-- Set a field of a hash, unless it has a value.  KEYS 1 hash  ARGV 1 field 2 value.  Returns the value that it has now.
local known = redis.call('HGET', KEYS[1], ARGV[1])
if known then  -- HSETNX would fail when memory is full
  return known
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return ARGV[2]
