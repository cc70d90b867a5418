-- Put the dead letters of one review back as one event; of two bots that do so at once one does.
-- KEYS 1 events (stream) 2 dead (stream) 3 letters (hash)  ARGV 1 review  2 places (JSON)  3… letters
-- Answers how many letters it was.
local gone = redis.call('XDEL', KEYS[2], unpack(ARGV, 3))
if gone > 0 then
  redis.call('XADD', KEYS[1], '*', 'review', ARGV[1], 'places', ARGV[2], 'again', '1')
  if redis.call('HINCRBY', KEYS[3], ARGV[1], -gone) <= 0 then
    redis.call('HDEL', KEYS[3], ARGV[1])
  end
end
return gone
