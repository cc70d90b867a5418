-- Finish a job. Only the bot that started it last can finish it. If another bot started any job of this card
-- meanwhile, it is not known whose message update came last, so the card is checked again.
-- `place`: "" if the job was not of kind "card". `check_now`, `check_later`: the members of the two checks, which have
-- one note; `later_in`: in how many seconds the later one is due, "" for none.
-- Returns 1, or 0 if another bot started a job of this card since.
local review, queue, queues, change_counts, job_starts, hints = unpack(KEYS)
local lane, member, note, token, place, check_now, check_note, check_later, later_in = unpack(ARGV)
local foreign = find_foreign_key('hash', 'zset', 'zset', 'hash', 'hash', 'stream')
if foreign then
  return foreign
end
local exists = redis.call('EXISTS', review) == 1
local now = clock()
redis.call('HDEL', job_starts, '')  -- makes the writes work when memory is full: see commit.lua
local latest = is_latest(job_starts, member, token)
if not latest and exists then
  add(queue, queues, change_counts, lane, check_now, now, check_note)
  wake(hints, lane)
end
if redis.call('HGET', job_starts, member) ~= token then
  return 0
end
redis.call('HDEL', job_starts, member)
if exists and place ~= '' then
  redis.call('HSET', review, 'have:' .. place, '')
end
local score = tonumber(redis.call('ZSCORE', queue, member) or 0)
local is_later = is_later_check(member) and now < score  -- a later check that was added again meanwhile
if not exists or not is_later and (redis.call('HGET', change_counts, member) or '') == note then
  redis.call('ZREM', queue, member)
  redis.call('HDEL', change_counts, member)
elseif not is_later then
  redis.call('ZADD', queue, text(now), member)  -- the card changed meanwhile
end
if exists and later_in ~= '' then
  add_later(queue, queues, change_counts, lane, check_later, now + tonumber(later_in), check_note)
end
update_queues(queue, queues, lane)
return latest and 1 or 0
