-- Give back an unfinished job at shutdown. It counts as started once, so that the next bot first looks for a
-- message of the card.
-- KEYS 1 job starts (hash)  ARGV 1 member 2 token 3 token of a job that was started once
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then
  redis.call('HDEL', KEYS[1], '')  -- makes the writes work when memory is full: see commit.lua
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
end
