-- Remove a held review from the lists of what to do next; its release puts it back.
-- KEYS 1 held (zset) 2 due (zset) 3 ready (zset)  ARGV 1 id
local foreign = find_foreign_key('zset')
if foreign then
  return foreign
end
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  redis.call('ZREM', KEYS[2], ARGV[1])
  redis.call('ZREM', KEYS[3], ARGV[1])
end
