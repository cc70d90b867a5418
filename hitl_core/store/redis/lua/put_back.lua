-- A bot leaves orderly what it had begun: this counts against no card, but the next one looks for its message first.
-- KEYS 1 begun (hash)  ARGV 1 member 2 token 3 token of one that was begun once
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then
  redis.call('HDEL', KEYS[1], '')  -- also when memory is full: see write.lua
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
end
