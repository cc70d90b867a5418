-- Keep one field of a hash, and the entry of the audit that tells of it, if the audit still ends where the entry
-- begins. Asked without an entry it writes nothing, and says what there is.
-- KEYS 1 review or policies (hash)  2 audit (stream)
-- ARGV 1 field            2 value   3 "1" where the first value stays
--      4 the field of the head      5 expected head        6 head
--      7 entry of the audit, or ""  8 the review's id, or "" for what may be new
-- Answers {field's value, head, seconds, microseconds}, each as it was before; nil without the review.
if ARGV[8] ~= '' and redis.call('EXISTS', KEYS[1]) == 0 then
  return false
end
local known = redis.call('HMGET', KEYS[1], ARGV[1], ARGV[4])
local kept = known[1] and (ARGV[3] == '1' or known[1] == ARGV[2])
if not kept and ARGV[7] ~= '' and (known[2] or '') == ARGV[5] then
  redis.call('HDEL', KEYS[1], '')  -- also when memory is full: see write.lua
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2], ARGV[4], ARGV[6])
  redis.call('XADD', KEYS[2], '*', 'review', ARGV[8], 'event', ARGV[7])
end
local time = redis.call('TIME')
return { known[1], known[2], time[1], time[2] }
