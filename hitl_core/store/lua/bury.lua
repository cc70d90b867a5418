-- Move an entry to the dead letters, and count it for its review. Deleted first, which needs no memory, so that
-- it can be done while memory is full; and once: what is gone was buried or delivered before.
-- KEYS 1 events (stream) 2 dead (stream) 3 letters (hash: how many each review has)
-- ARGV 1 group  2 entry  3 review  4 places (JSON)  5 why
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
if redis.call('XDEL', KEYS[1], ARGV[2]) == 1 then
  redis.call('XADD', KEYS[2], '*', 'review', ARGV[3], 'places', ARGV[4], 'why', ARGV[5])
  redis.call('HINCRBY', KEYS[3], ARGV[3], 1)
end
