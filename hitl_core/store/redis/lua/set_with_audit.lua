-- Write one field of a hash together with its entry of the audit, if the audit still ends at the expected head. Without
-- an entry, only read.
-- KEYS 1 review or policies (hash)  2 audit (stream)
-- ARGV 1 field  2 value  3 "1" if an existing value stays  4 field of the head
--      5 review id, or "" for a hash that may not exist yet
--      6 expected head  7 new head  8 entry: all three, or none
-- Returns {value, head, seconds, microseconds} as they were before; nil if there is no review.
if ARGV[5] ~= '' and redis.call('EXISTS', KEYS[1]) == 0 then
  return false
end
local known = redis.call('HMGET', KEYS[1], ARGV[1], ARGV[4])
local stays = known[1] and (ARGV[3] == '1' or known[1] == ARGV[2])
if ARGV[8] and not stays and (known[2] or '') == ARGV[6] then
  redis.call('HDEL', KEYS[1], '')  -- also when memory is full: see write.lua
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2], ARGV[4], ARGV[7])
  redis.call('XADD', KEYS[2], '*', 'event', ARGV[8])
end
local time = redis.call('TIME')
return { known[1], known[2], time[1], time[2] }
