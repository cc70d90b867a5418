-- Set a field of a hash, unless it has a value.  KEYS 1 hash  ARGV 1 field 2 value.  Returns the value that it has now.
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[1], ARGV[1])
