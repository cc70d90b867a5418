-- Record whether a review of a digest still waits, and queue the digest's message if that is a change.
-- KEYS 1 digest (hash) 2 queue (zset) 3 queues (zset) 4 change counts (hash) 5 hints (stream)
-- ARGV 1 lane 2 the digest's member 3 review, or "" to queue the message in any case 4 "1" if it waits
--      5 milliseconds to keep a digest where nothing waits
if redis.call('EXISTS', KEYS[1]) == 0 then
  return
end
redis.call('HDEL', KEYS[1], '')  -- also when memory is full: see write.lua
local changed = ARGV[3] == ''
if ARGV[3] ~= '' and ARGV[4] == '1' then
  changed = redis.call('HSETNX', KEYS[1], 'wait:' .. ARGV[3], text(clock())) == 1
elseif ARGV[3] ~= '' then
  changed = redis.call('HDEL', KEYS[1], 'wait:' .. ARGV[3]) == 1
end
if not changed then
  return
end
local waits = false
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  waits = waits or string.sub(field, 1, 5) == 'wait:'
end
if waits then
  redis.call('PERSIST', KEYS[1])
else
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
end
if redis.call('HEXISTS', KEYS[1], 'post') == 1 then
  add(KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[2], clock(), nil)
  wake(KEYS[5], ARGV[1])
end
