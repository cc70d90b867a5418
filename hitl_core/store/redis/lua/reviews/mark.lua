-- Set a mark on a review; a mark is not a decision.  KEYS 1 review (hash)  ARGV 1 field
-- Returns 1, or 0 if the mark was set before, or if there is no review.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
redis.call('HDEL', KEYS[1], '')  -- makes the writes work when memory is full: see commit.lua
return redis.call('HSETNX', KEYS[1], ARGV[1], '')
