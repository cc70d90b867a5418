-- Stop holding a lane or a lock.  KEYS 1 lease (string)  ARGV 1 holder
local value = redis.call('GET', KEYS[1])
if value and string.match(value, '^(.*) %d+$') == ARGV[1] then
  redis.call('DEL', KEYS[1])
end
