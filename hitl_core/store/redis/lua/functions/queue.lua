-- Functions of the scripts that use queues; scripts.py puts this file in front of those scripts. Each lane has a
-- queue, and a queue has each member once. A score below POSTS is the time from which the job may be done. The
-- score of a card that was never posted is POSTS plus the time by which it should be shown. `queues` has each lane with the
-- time from which a bot must look at it.
local POSTS = 1e11

local function clock()
  local time = redis.call('TIME')
  return tonumber(time[1]) + tonumber(time[2]) / 1e6
end

local function text(number)
  return string.format('%.6f', number)
end

-- Update in `queues` the time from which a bot must look at this queue.
local function update_queues(queue, queues, lane)
  local draw = redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES')
  if #draw == 0 then
    redis.call('ZREM', queues, lane)
    return
  end
  local due = tonumber(draw[2])
  local post = redis.call('ZRANGEBYSCORE', queue, POSTS, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  if #post > 0 then
    due = math.min(due, tonumber(post[2]) - POSTS)
  end
  redis.call('ZADD', queues, text(due), lane)
end

-- Wake the bots. This is only a hint: the queues have all jobs.
local function wake(hints, lane)
  redis.call('XADD', hints, 'MAXLEN', '~', '1000', '*', 'lane', lane)
  redis.call('EXPIRE', hints, 86400)
end

-- Count a field of a hash up. One that is no number begins again: a script that fails has done one half of its work.
local function count_up(key, field)
  local reply = redis.pcall('HINCRBY', key, field, 1)
  if type(reply) == 'table' then
    redis.call('HSET', key, field, 1)
  end
end

-- Count the dead letters of a review down. Returns how many are left.
local function count_down(key, review)
  local left = (tonumber(redis.call('HGET', key, review) or 0) or 0) - 1
  if left > 0 then
    redis.call('HSET', key, review, left)
  else
    redis.call('HDEL', key, review)
  end
  return left
end

-- The card of a job: its review and place. "" for a member that no bot wrote.
local function card_of(member)
  return string.match(member, ' (.*)$') or ''
end

-- Whether this job was added with a delay: see LATER in jobs.py.
local function is_later_check(member)
  return string.sub(member, 1, 6) == 'later-'
end

-- Whether this is an update of a message that was put off, and no check.
local function is_later_update(member)
  return string.find(member, '^later%-card ') or string.find(member, '^later%-digest ')
end

-- Add a member to a queue. One that is already there keeps the earlier score. Without a note, its changes are counted.
local function add(queue, queues, change_counts, lane, member, score, note)
  if note and note ~= '' then
    redis.call('HSET', change_counts, member, note)
  else
    count_up(change_counts, member)
  end
  redis.call('ZADD', queue, 'LT', text(score), member)
  update_queues(queue, queues, lane)
end

-- Add a member that must also be done at this time or later. One that is already there gets the later time, but of two
-- updates the earlier one counts: what still waits then is put off again. One that is due now may be running, so it gets
-- the new time. Of two notes, which are times, the earlier one counts.
local function add_later(queue, queues, change_counts, lane, member, score, note)
  if note == '' then
    count_up(change_counts, member)
  elseif tonumber(note) < (tonumber(redis.call('HGET', change_counts, member) or 'inf') or math.huge) then
    redis.call('HSET', change_counts, member, note)
  end
  local waits = is_later_update(member) and tonumber(redis.call('ZSCORE', queue, member) or 0) > clock()
  redis.call('ZADD', queue, waits and 'LT' or 'GT', text(score), member)
  update_queues(queue, queues, lane)
end

-- Whether no other job of this card was started since this token was made. If so, the card's entry is removed.
local function is_latest(job_starts, member, token)
  local card = 'latest ' .. card_of(member)
  if redis.call('HGET', job_starts, card) ~= string.match(token, ' (%S+)$') then
    return false
  end
  redis.call('HDEL', job_starts, card)
  return true
end
