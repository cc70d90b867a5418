-- Give the first cards of a digest's waiting reviews back to their queue.
-- KEYS 1 digest (hash) 2 queue (zset) 3 queues (zset) 4 change counts (hash) 5 hints (stream) 6… reviews (hashes)
-- ARGV 1 lane 2 place 3 the mark of its reviews 4 the mark that keeps a card out 5… review, member
for i = 6, #KEYS do
  local review, member = ARGV[5 + 2 * (i - 6)], ARGV[6 + 2 * (i - 6)]
  local score = redis.call('HGET', KEYS[1], 'wait:' .. review)
  if score and redis.call('HDEL', KEYS[i], ARGV[3]) == 1 then
    redis.call('HDEL', KEYS[i], 'have:' .. ARGV[2])
    redis.call('HSET', KEYS[i], ARGV[4], '')
    redis.call('ZREM', KEYS[2], member)
    add(KEYS[2], KEYS[3], KEYS[4], ARGV[1], member, POSTS + tonumber(score), nil)
  end
end
redis.call('DEL', KEYS[1])
wake(KEYS[5], ARGV[1])
