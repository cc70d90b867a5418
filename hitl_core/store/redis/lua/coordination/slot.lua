-- Take one call to a limited service that all bots share: one every `every` milliseconds, and up to `burst` at once.
-- A caller that has to wait takes nothing, so a bot that dies meanwhile takes no time from the others.
-- KEYS 1 slot (string: the time of the next call, and when it was written, in milliseconds)
-- ARGV 1 every 2 burst 3 milliseconds to pause
-- Returns 0 if the caller may call now, else after how many milliseconds to ask again. A pause takes no call.
local now = math.floor(clock() * 1000)
local known = redis.pcall('GET', KEYS[1])  -- a value of another type is no slot
local turn, written = string.match(type(known) == 'string' and known or '', '^(%d+) (%d+)$')
turn, written = tonumber(turn or 0), tonumber(written or 0)
if written > now then  -- the clock was set back, or another server is the primary now
  turn = 0
end
local pause, every = tonumber(ARGV[3]), tonumber(ARGV[1])

local function save(next_turn, ttl)
  redis.call('DEL', KEYS[1])  -- makes the writes work when memory is full: see commit.lua
  redis.call('SET', KEYS[1], string.format('%d %d', next_turn, now), 'PX', ttl)
end

if pause > 0 then
  turn = math.max(turn, now + pause)
  save(turn, turn - now + 1000)
  return turn - now
end
if turn > now then
  return turn - now
end
turn = math.max(turn, now - every * (tonumber(ARGV[2]) - 1))
if every > 0 then
  save(turn + every, every * tonumber(ARGV[2]) + 1000)
end
return 0
