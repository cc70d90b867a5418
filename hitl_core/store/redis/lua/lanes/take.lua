-- Start the first job of a queue. The job stays in the queue until it is finished; its token counts its starts.
-- KEYS 1 queue (zset) 2 change counts (hash) 3 job starts (hash) 4 dead letter counts (hash)
-- ARGV 1 "post" or "draw" 2… members to skip
-- Returns {member, note, token}, or nil if there is no job to do now.
local foreign = find_foreign_key('zset', 'hash')
if foreign then
  return foreign
end
local MAX_UPDATE_DELAY = 180  -- in seconds: longer than a limit of a channel, or an open form
local skip = {}
for i = 2, #ARGV do
  skip[ARGV[i]] = true
end

local function find_first(members, is_due)
  for _, member in ipairs(members) do
    if not skip[member] and is_due(member) then
      return member
    end
  end
end

local function always()
  return true
end

-- Whether a job that is due later was queued before the clock was set back: only a later check waits for its time, and
-- a later update for a few minutes at most.
local function is_before_set_back(member, now)
  if not is_later_check(member) then
    return true
  end
  local is_early = is_later_update(member) and tonumber(redis.call('ZSCORE', KEYS[1], member)) > now + MAX_UPDATE_DELAY
  if is_early then
    redis.call('ZADD', KEYS[1], text(now), member)  -- otherwise finish.lua takes it for added again
  end
  return is_early
end

-- Whether a job of this card that was given up may have posted a message.
local function may_be_posted(member)
  local review = string.match(member, '^card (%S+)')
  return review and redis.call('HEXISTS', KEYS[4], review) == 1
end

local member
if ARGV[1] == 'post' then
  member = find_first(redis.call('ZRANGEBYSCORE', KEYS[1], text(POSTS), '+inf', 'LIMIT', 0, #ARGV), always)
else
  local now = clock()
  member = find_first(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', text(now), 'LIMIT', 0, #ARGV), always)
    or find_first(redis.call('ZREVRANGEBYSCORE', KEYS[1], '(' .. text(POSTS), '(' .. text(now), 'LIMIT', 0, 100),
      function(candidate) return is_before_set_back(candidate, now) end)
end
if not member then
  return false
end
local last_token = redis.call('HGET', KEYS[3], member)
local attempts, first_at = 0, text(clock())
if last_token then
  attempts, first_at = string.match(last_token, '^(%d+) (%d+%.?%d*)')
  if not attempts then  -- it is damaged, so an earlier start may have shown the card
    attempts, first_at = 1, 0
  end
elseif may_be_posted(member) then
  attempts, first_at = 1, 0
end
-- Two bots can start two jobs of one card: the entry `latest` has the time of the last start.
local started_at = text(clock())
local token = string.format('%d %s %s', tonumber(attempts) + 1, first_at, started_at)
redis.call('HDEL', KEYS[3], '')  -- makes the writes work when memory is full: see commit.lua
redis.call('HSET', KEYS[3], member, token, 'latest ' .. card_of(member), started_at)
return { member, redis.call('HGET', KEYS[2], member) or '', token }
