-- Put one dead letter back into its queue, as a job with one earlier attempt. If two bots try at once, one succeeds.
-- Returns 0 if it is no longer there; 2 for the last dead letter of its review, else 1.
local queue, queues, change_counts, job_starts, dead_letters, dead_letter_counts, hints = unpack(KEYS)
local lane, member, entry, review = unpack(ARGV)
local foreign = find_foreign_key('zset', 'zset', 'hash', 'hash', 'stream', 'hash', 'stream')
if foreign then
  return foreign
end
local letter = redis.call('XRANGE', dead_letters, entry, entry)[1]
if not letter then
  return 0
end
redis.call('XDEL', dead_letters, entry)
local left = count_down(dead_letter_counts, review)
local score = 0
for i = 1, #letter[2], 2 do
  if letter[2][i] == 'score' then
    score = tonumber(letter[2][i + 1]) or 0
  end
end
redis.call('HSETNX', job_starts, member, '1 0')
add(queue, queues, change_counts, lane, member, score, nil)
wake(hints, lane)
return left <= 0 and 2 or 1
