-- The write before WAIT, which counts the replicas that have it, and so all before it.  KEYS 1 a key 2 audit 3 anchors
-- ARGV 1 milliseconds that the key lives 2 the last entry that the process has seen, or ""
-- Returns 0 if this server lacks that entry: it took over after the write that is to be confirmed.
redis.call('DEL', KEYS[1])  -- makes the writes work when memory is full: see commit.lua
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[1])
return has_entry(KEYS[2], KEYS[3], ARGV[2]) and 1 or 0
