-- Take first cards out of a queue and into a digest, in one step. A card that a bot has begun, that is
-- shown, or that must stay out of digests is not taken.
-- KEYS 1 queue (zset) 2 queues (zset) 3 change counts (hash) 4 job starts (hash) 5 hints (stream) 6 digest (hash)
--      7 open digest (string) 8… reviews (hashes)
-- ARGV 1 lane 2 place 3 agent 4 the digest's id 5 expected open digest, or "" 6 milliseconds that it stays open
--      7 the digest's member 8 the mark of its reviews 9 the mark that keeps a card out 10 how many reviews a digest may have
--      11… review, member
-- Returns the number of cards, or -1 if another digest is open, or if this one takes no more.
local foreign = find_foreign_key('zset', 'zset', 'hash', 'hash', 'stream', 'hash', 'string', 'hash')
if foreign then
  return foreign
end
if (redis.call('GET', KEYS[7]) or '') ~= ARGV[5] then
  return -1
end
local total = tonumber(redis.call('HGET', KEYS[6], 'total') or '0') or 0
local is_posted = redis.call('HEXISTS', KEYS[6], 'post') == 1
if redis.call('HEXISTS', KEYS[6], 'closed') == 1 or is_posted and not has_waiting(KEYS[6])
  or total > 0 and total + #KEYS - 7 > tonumber(ARGV[10]) then
  redis.call('DEL', KEYS[7])
  return -1
end
local count, first = 0, nil
for i = 8, #KEYS do
  local review, member = ARGV[11 + 2 * (i - 8)], ARGV[12 + 2 * (i - 8)]
  local score = tonumber(redis.call('ZSCORE', KEYS[1], member) or '0')
  if score >= POSTS and redis.call('HEXISTS', KEYS[4], member) == 0 and redis.call('EXISTS', KEYS[i]) == 1
    and redis.call('HEXISTS', KEYS[i], ARGV[9]) == 0 then
    redis.call('ZREM', KEYS[1], member)
    redis.call('HDEL', KEYS[3], member)
    redis.call('HSET', KEYS[i], 'have:' .. ARGV[2], '', ARGV[8], '')
    redis.call('HSET', KEYS[6], 'wait:' .. review, text(score - POSTS), 'new:' .. review, '')
    count, first = count + 1, math.min(first or score, score)
  end
end
if count > 0 then
  redis.call('HSET', KEYS[6], 'lane', ARGV[1], 'place', ARGV[2], 'agent', ARGV[3], 'total', total + count)
  redis.call('PERSIST', KEYS[6])
  if ARGV[5] == '' then
    redis.call('SET', KEYS[7], ARGV[4], 'PX', ARGV[6])
  end
  if is_posted then
    first = clock()
  end
  add(KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[7], first, nil)
  wake(KEYS[5], ARGV[1])
end
return count
