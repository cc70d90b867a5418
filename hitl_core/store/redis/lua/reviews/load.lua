-- Read a review and the server's time in one step, so that a transition uses both of the same moment.
-- KEYS 1 review (hash) 2 held (zset)  ARGV 1 id
-- Returns {seconds, microseconds, since when the review is held, or "", sizes, field value field value …}.
return answer_fields(redis.call('HGETALL', KEYS[1]), redis.call('ZSCORE', KEYS[2], ARGV[1]))
