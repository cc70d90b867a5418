-- The score of the first job of a queue at or after a score; nil if there is none.  KEYS 1 queue (zset)  ARGV 1 score
return redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[1], '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
