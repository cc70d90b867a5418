-- Read a review and the time in one step, so that a transition judges both at the same moment.
-- KEYS 1 review (hash).  Answers {{seconds, microseconds}, {field, value, …}}.
return { redis.call('TIME'), redis.call('HGETALL', KEYS[1]) }
