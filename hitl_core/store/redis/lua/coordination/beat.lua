-- Record a process's heartbeat.  KEYS 1 its key  ARGV 1 milliseconds until it counts as dead
redis.call('DEL', KEYS[1])  -- makes the writes work when memory is full: see commit.lua
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[1])
