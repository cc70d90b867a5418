-- Take first cards out of a queue and into a digest, in one step. A card that a bot has begun, that is
-- shown, or that must stay out of digests is not taken.
-- KEYS those below, then the reviews (hashes)  ARGV those below, then for each review: its id, the member of its card
-- `expected`: the open digest, or ""; `keep_open`: how many milliseconds the digest stays open; `mark`: of its reviews;
-- `mark_out`: keeps a card out of digests.
-- Returns the number of cards, or -1 if another digest is open, or if this one takes no more.
local queue, queues, change_counts, job_starts, hints, digest, open_digest = unpack(KEYS, 1, 7)
local lane, place, agent, digest_id, expected, keep_open = unpack(ARGV, 1, 6)
local digest_member, mark, mark_out, max_reviews = unpack(ARGV, 7, 10)
local foreign = find_foreign_key('zset', 'zset', 'hash', 'hash', 'stream', 'hash', 'string', 'hash')
if foreign then
  return foreign
end
if (redis.call('GET', open_digest) or '') ~= expected then
  return -1
end
local total = tonumber(redis.call('HGET', digest, 'total') or '0') or 0
local is_posted = redis.call('HEXISTS', digest, 'post') == 1
if redis.call('HEXISTS', digest, 'closed') == 1 or is_posted and not has_waiting(digest)
  or total > 0 and total + #KEYS - 7 > tonumber(max_reviews) then
  redis.call('DEL', open_digest)
  return -1
end
local count, first = 0, nil
for i = 8, #KEYS do
  local review, member = ARGV[11 + 2 * (i - 8)], ARGV[12 + 2 * (i - 8)]
  local score = tonumber(redis.call('ZSCORE', queue, member) or '0')
  if score >= POSTS and redis.call('HEXISTS', job_starts, member) == 0 and redis.call('EXISTS', KEYS[i]) == 1
    and redis.call('HEXISTS', KEYS[i], mark_out) == 0 then
    redis.call('ZREM', queue, member)
    redis.call('HDEL', change_counts, member)
    redis.call('HSET', KEYS[i], 'have:' .. place, '', mark, '')
    redis.call('HSET', digest, 'wait:' .. review, text(score - POSTS), 'new:' .. review, '')
    count, first = count + 1, math.min(first or score, score)
  end
end
if count > 0 then
  redis.call('HSET', digest, 'lane', lane, 'place', place, 'agent', agent, 'total', total + count)
  redis.call('PERSIST', digest)
  if expected == '' then
    redis.call('SET', open_digest, digest_id, 'PX', keep_open)
  end
  if is_posted then
    first = clock()
  end
  add(queue, queues, change_counts, lane, digest_member, first, nil)
  wake(hints, lane)
end
return count
