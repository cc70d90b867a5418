-- Read a review and the server's time in one step, so that a transition uses both of the same moment.
-- KEYS 1 review (hash) 2 held (zset)  ARGV 1 id
-- Returns the answer of `answer_fields`. Without a review there are no sizes.
return answer_fields(redis.pcall('HGETALL', KEYS[1]), redis.call('ZSCORE', KEYS[2], ARGV[1]))
