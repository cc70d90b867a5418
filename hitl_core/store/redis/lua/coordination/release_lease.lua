-- Stop holding a lane or a lock.  KEYS 1 lease (string)  ARGV 1 holder
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
end
