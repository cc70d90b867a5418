-- Read a review and the server's time in one step, so that a transition uses both of the same moment.
-- KEYS 1 review (hash).  Returns {{seconds, microseconds}, {field, value, …}}.
return { redis.call('TIME'), redis.call('HGETALL', KEYS[1]) }
