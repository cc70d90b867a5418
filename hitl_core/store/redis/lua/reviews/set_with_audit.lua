-- Write one field of a hash together with its entry of the audit, if the field still has the expected value, and the
-- audit still ends at the expected head. Without an entry, only read.
-- KEYS 1 review or policies (hash)  2 audit (stream)
-- ARGV 1 field  2 value  3 field of the head  4 review id, or "" for a hash that may not exist yet
--      5 a field without which nothing is written, or ""
--      6 expected value, "" for none  7 expected head  8 new head  9 entry: all four, or none
-- Returns {value, head, seconds, microseconds} as they were before; nil if there is no review, or not that field.
local foreign = find_foreign_key('hash', 'stream')
if foreign then
  return foreign
end
if ARGV[4] ~= '' and redis.call('EXISTS', KEYS[1]) == 0 then
  return false
end
if ARGV[5] ~= '' and redis.call('HEXISTS', KEYS[1], ARGV[5]) == 0 then
  return false
end
local known = redis.call('HMGET', KEYS[1], ARGV[1], ARGV[3])
if ARGV[9] and (known[1] or '') == ARGV[6] and (known[2] or '') == ARGV[7] then
  redis.call('HDEL', KEYS[1], '')  -- makes the writes work when memory is full: see commit.lua
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[8])
  redis.call('XADD', KEYS[2], '*', 'event', ARGV[9])
end
local time = redis.call('TIME')
return { known[1], known[2], time[1], time[2] }
