-- Whose turn it is to call a limited service: all bots ask here, each turn is one call, `every` so many milliseconds
-- one; `burst` of them may come at once.
-- KEYS 1 slot (string: when the next turn is, in milliseconds)  ARGV 1 every 2 burst 3 milliseconds to pause first
-- Answers in how many milliseconds it is the caller's turn. With a pause: nobody's before that, and it takes none.
local now = math.floor(clock() * 1000)
local turn = tonumber(redis.call('GET', KEYS[1]) or '0')
redis.call('DEL', KEYS[1])  -- also when memory is full: see write.lua
if tonumber(ARGV[3]) > 0 then
  turn = math.max(turn, now + tonumber(ARGV[3]))
  redis.call('SET', KEYS[1], string.format('%d', turn), 'PX', turn - now + 1000)
  return turn - now
end
local every = tonumber(ARGV[1])
turn = math.max(turn, now - every * (tonumber(ARGV[2]) - 1))
if every > 0 then
  redis.call('SET', KEYS[1], string.format('%d', turn + every), 'PX', math.max(turn - now, 0) + every * tonumber(ARGV[2]) + 1000)
end
return math.max(turn - now, 0)
