-- Record that a person opened their Home, and delete old records.
-- KEYS 1 homes (zset)  ARGV 1 person 2 time 3 seconds to keep
redis.call('ZADD', KEYS[1], 'GT', ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('(%.6f', tonumber(ARGV[2]) - tonumber(ARGV[3])))
redis.call('EXPIRE', KEYS[1], ARGV[3])
