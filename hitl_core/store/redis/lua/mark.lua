-- Note something of a review that is no decision.  KEYS 1 review (hash).  ARGV 1 field.
-- Answers 1, or 0 where it was noted before, or there is no review.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
redis.call('HDEL', KEYS[1], '')  -- also when memory is full: see write.lua
return redis.call('HSETNX', KEYS[1], ARGV[1], '')
