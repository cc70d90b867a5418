-- Reserve a slot for one call to a rate-limited service that all bots share. There is one slot every `every`
-- milliseconds, and up to `burst` slots can be used at once.
-- KEYS 1 time of the next slot, in milliseconds (string)  ARGV 1 every 2 burst 3 milliseconds to pause, or 0
-- Returns in how many milliseconds the reserved slot is. With a pause, no slot is reserved, and none is before its end.
local now = math.floor(clock() * 1000)
local slot = tonumber(redis.call('GET', KEYS[1]) or '0')
redis.call('DEL', KEYS[1])  -- also when memory is full: see write.lua
if tonumber(ARGV[3]) > 0 then
  slot = math.max(slot, now + tonumber(ARGV[3]))
  redis.call('SET', KEYS[1], string.format('%d', slot), 'PX', slot - now + 1000)
  return slot - now
end
local every = tonumber(ARGV[1])
slot = math.max(slot, now - every * (tonumber(ARGV[2]) - 1))
if every > 0 then
  redis.call('SET', KEYS[1], string.format('%d', slot + every), 'PX', math.max(slot - now, 0) + every * tonumber(ARGV[2]) + 1000)
end
return math.max(slot - now, 0)
