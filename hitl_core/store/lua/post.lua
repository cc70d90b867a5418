-- Keep where a card was posted: the first one wins, so of two posts one knows that it must go.
-- KEYS 1 review (hash).  ARGV 1 field, 2 message ref (JSON).  Answers the winner, or nil without a review.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return false
end
redis.call('HDEL', KEYS[1], '')  -- also when memory is full: see write.lua
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[1], ARGV[1])
