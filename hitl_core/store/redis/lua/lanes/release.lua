-- Stop holding a lane.  KEYS 1 lease (string)  ARGV 1 bot
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
end
