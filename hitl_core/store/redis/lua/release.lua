-- Hold a queue no more.  KEYS 1 lease (string)  ARGV 1 who
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
end
