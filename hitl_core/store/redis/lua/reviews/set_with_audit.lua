-- Write one field of a hash together with its entry of the audit, if the field still has the expected value, and the
-- audit still ends at the expected head. Without an entry, only read.
-- `hash`: a review, or the policies; `review_id`: "" for a hash that may not exist yet; `required_field`: without it
-- nothing is written, "" for none. `expected` ("" for no value), both heads and the entry: all four, or none.
-- Returns {value, head, seconds, microseconds} as they were before; nil if there is no review, or not that field.
local hash, audit = unpack(KEYS)
local field, value, head_field, review_id, required_field, expected, head_before, head, entry = unpack(ARGV)
local foreign = find_foreign_key('hash', 'stream')
if foreign then
  return foreign
end
if review_id ~= '' and redis.call('EXISTS', hash) == 0 then
  return false
end
if required_field ~= '' and redis.call('HEXISTS', hash, required_field) == 0 then
  return false
end
local known = redis.call('HMGET', hash, field, head_field)
if entry and (known[1] or '') == expected and (known[2] or '') == head_before then
  redis.call('HDEL', hash, '')  -- makes the writes work when memory is full: see commit.lua
  redis.call('HSET', hash, field, value, head_field, head)
  redis.call('XADD', audit, '*', 'event', entry)
end
local time = redis.call('TIME')
return { known[1], known[2], time[1], time[2] }
