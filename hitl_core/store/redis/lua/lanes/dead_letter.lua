-- Move a job that can't be done to the dead letters, and count it for its review. If the card changed meanwhile, the
-- job stays in its queue instead, as one that was started once: the next attempt first looks for a message of the card.
-- The deletes come first, so that the script also works when memory is full. A job that is no longer there was finished
-- or moved before. `check_later`: the later check, with its note; `later_in`: in how many seconds it is due, "" for none.
local queue, queues, change_counts, job_starts, dead_letters, dead_letter_counts = unpack(KEYS)
local lane, member, note, token, review, reason, letter_member, check_note, check_later, later_in = unpack(ARGV)
local foreign = find_foreign_key('zset', 'zset', 'hash', 'hash', 'stream', 'hash')
if foreign then
  return foreign
end
if redis.call('HGET', job_starts, member) ~= token then
  return
end
redis.call('HDEL', job_starts, member)
is_latest(job_starts, member, token)
if (redis.call('HGET', change_counts, member) or '') ~= note then
  redis.call('HSET', job_starts, member, '1 ' .. string.match(token, '^%d+ (%S+)'))
  return
end
local score = redis.call('ZSCORE', queue, member)
redis.call('ZREM', queue, member)
redis.call('HDEL', change_counts, member)
if later_in ~= '' then
  add_later(queue, queues, change_counts, lane, check_later, clock() + tonumber(later_in), check_note)
end
update_queues(queue, queues, lane)
redis.call('XADD', dead_letters, '*', 'review', review, 'lane', lane, 'member', letter_member, 'why', reason,
  'score', score or '0')
count_up(dead_letter_counts, review)
