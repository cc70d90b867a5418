-- Read what a submit must know of its thread, and the time, in one step.
-- KEYS 1 thread (zset) 2 rejected calls of the thread (zset) 3 review (hash)  ARGV 1 the most rejected calls
-- Returns {"seconds microseconds live stored", rejected call, …}. `live` is 1 if the thread has a live review, `stored` if
-- the review is there. It is one text, because reading each value of a reply takes longer than all of this.
local first = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(1e11', 'LIMIT', 0, 1)  -- done ones have a higher score
local answer = redis.call('ZREVRANGE', KEYS[2], 0, ARGV[1] - 1)
local time = redis.call('TIME')
table.insert(answer, 1, table.concat({ time[1], time[2], #first, redis.call('EXISTS', KEYS[3]) }, ' '))
return answer
