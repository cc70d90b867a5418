-- A consumer reads no more: what it took goes to nobody, as if left for a day and taken once, and its name is
-- forgotten. So an orderly end counts against no entry.
-- KEYS 1 events (stream).  ARGV 1 group, 2 consumer.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return
end
local taken = redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1000, ARGV[2])
for _, entry in ipairs(taken) do
  redis.call('XCLAIM', KEYS[1], ARGV[1], 'nobody', 0, entry[1], 'IDLE', 86400000, 'RETRYCOUNT', 1, 'JUSTID')
end
if #taken < 1000 then
  redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
end
