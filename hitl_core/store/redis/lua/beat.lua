-- A process lives.  KEYS 1 its key.  ARGV 1 for how long, in milliseconds.
redis.call('DEL', KEYS[1])  -- also when memory is full: see write.lua
redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])
