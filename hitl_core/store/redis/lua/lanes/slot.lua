-- Take one call to a limited service that all bots share: one every `every` milliseconds, and up to `burst` at once.
-- A caller that has to wait takes nothing, so a bot that dies meanwhile takes no time from the others.
-- KEYS 1 slot (string: the time of the next call, in milliseconds)  ARGV 1 every 2 burst 3 milliseconds to pause
-- Returns 0 if the caller may call now, else after how many milliseconds to ask again. A pause takes no call.
local now = math.floor(clock() * 1000)
local turn = tonumber(redis.call('GET', KEYS[1]) or '0')
local pause, every = tonumber(ARGV[3]), tonumber(ARGV[1])
if pause > 0 then
  turn = math.max(turn, now + pause)
  redis.call('DEL', KEYS[1])  -- also when memory is full: see commit.lua
  redis.call('SET', KEYS[1], string.format('%d', turn), 'PX', turn - now + 1000)
  return turn - now
end
if turn > now then
  return turn - now
end
turn = math.max(turn, now - every * (tonumber(ARGV[2]) - 1))
if every > 0 then
  redis.call('DEL', KEYS[1])  -- also when memory is full: see commit.lua
  redis.call('SET', KEYS[1], string.format('%d', turn + every), 'PX', every * tonumber(ARGV[2]) + 1000)
end
return 0
