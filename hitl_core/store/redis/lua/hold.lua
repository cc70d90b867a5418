-- Hold a queue, or go on holding it.  KEYS 1 lease (string)  ARGV 1 who 2 milliseconds
-- Answers 1, or 0 where another one holds it.
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[1])  -- also when memory is full: see write.lua
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
