-- Read a review and the server's time in one step, so that a transition uses both of the same moment.
-- KEYS 1 review (hash) 2 held (zset)  ARGV 1 id
-- Returns {{seconds, microseconds}, {field, value, …}, since when the review is held, or ""}.
local held = redis.call('ZSCORE', KEYS[2], ARGV[1]) or ''
return { redis.call('TIME'), redis.call('HGETALL', KEYS[1]), held }
