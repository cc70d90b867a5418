-- What the scripts share that put cards into queues: each conversation has one, and this stands before each of them.
-- A queue holds a member once. Below POSTS its score is the time from which it may be drawn; a card that was never
-- shown stands above, by the time of its submission. `queues` has each queue by the time from which a bot must look.
local POSTS = 1e11

local function clock()
  local time = redis.call('TIME')
  return tonumber(time[1]) + tonumber(time[2]) / 1e6
end

local function text(number)
  return string.format('%.6f', number)
end

-- Say in `queues` from when a bot must look at this queue.
local function settle(queue, queues, lane)
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

-- Wake the bots: a hint, the queues are the truth.
local function wake(hints, lane)
  redis.call('XADD', hints, 'MAXLEN', '~', '1000', '*', 'lane', lane)
  redis.call('EXPIRE', hints, 86400)
end

-- A member that waits already keeps the earlier of the two times. Without a note it counts how often it came.
local function add(queue, queues, wants, lane, member, score, note)
  if note and note ~= '' then
    redis.call('HSET', wants, member, note)
  else
    redis.call('HINCRBY', wants, member, 1)
  end
  redis.call('ZADD', queue, 'LT', text(score), member)
  settle(queue, queues, lane)
end

-- Whether nobody began anything about this card since this token was given; then nobody has a turn any more.
local function alone(begun, member, token)
  local card = 'turn ' .. string.match(member, ' (.*)$')
  if redis.call('HGET', begun, card) ~= string.match(token, ' (%S+)$') then
    return false
  end
  redis.call('HDEL', begun, card)
  return true
end
