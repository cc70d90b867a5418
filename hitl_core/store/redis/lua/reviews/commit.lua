-- Store one transition of one review: compare the version and the head of its audit, then write the review with its
-- event and its indexes.
-- KEYS those below, then each added audience and each removed one (zsets), then the queue of each place (zset)
-- ARGV those below, then for each: new revision of arguments: field, bytes; rejected call that is added; one that is
--      removed; place to redraw: lane, place, the card's member
-- Returns "stored ID", with the id of the entry or ""; "conflict" if another version is stored, if it was read too long
-- ago, if the review is held, or if its release doesn't know all that an agent has started; "server RUN_ID" on an unknown server; or "history" if what
-- the process has seen is not what is stored: see check_history.lua. Compares first, writes last.
local review, thread, due, ready, hints, audit, anchors, agent, live, decisions, queues, change_counts, rejected_calls,
  history, held = unpack(KEYS, 1, 15)

-- `expected`: the stored version, "0" if the review must not exist yet. `due_at`, `ready_at`: "" if they have no time.
local id, expected, version, data, status, thread_score, due_at, ready_at = unpack(ARGV, 1, 8)
-- The entry of the audit, or ""; the head of the review's chain before and after it.
local entry, head_before, head = unpack(ARGV, 9, 11)
-- The order of its first posts; how many seconds before now its cards are queued; "" to wake no process of the agent, else
-- how large a review may be for the hint to carry it; how long a done review is kept, in milliseconds, "0" if it isn't done.
local post_order, head_start, hint_size, keep = unpack(ARGV, 12, 15)
-- The time of a person's decision, or ""; how long and how many decisions are kept; how many rejected calls.
local decided_at, keep_decisions, max_decisions, max_rejected = unpack(ARGV, 16, 19)
-- What the process knows: the history; the last entry that it has seen, or ""; the servers, "" if any may do it.
local known_history, known_entry, known_servers = unpack(ARGV, 20, 22)
-- "release" for a write that releases a held review, "keep" for one after which it is still held, else "". A held review
-- is written only if it has `started` fields that begin with `started_prefix`.
local hold, started_prefix, started = unpack(ARGV, 23, 25)
-- Until when a change of what was read may be stored, or "" for a new review.
local stale_at = ARGV[26]
-- How many of each follow.
local arguments, added, removed, rejected, superseded, places = unpack(ARGV, 27, 32)
local FIRST_AUDIENCE, FIRST_ARGUMENT = 16, 33

local LIVE_BELOW = 1e11  -- added to the score of done reviews, so that they come after the live ones of the thread

local function count_fields(key, beginning)
  local count = 0
  for _, field in ipairs(redis.call('HKEYS', key)) do
    if string.sub(field, 1, #beginning) == beginning then
      count = count + 1
    end
  end
  return count
end

local foreign = find_foreign_key(
  'hash', 'zset', 'zset', 'zset', 'stream', 'stream', 'stream', 'stream', 'zset', 'zset', 'zset', 'hash', 'zset',
  'string', 'zset'
)
if foreign then
  return foreign
end
if known_servers ~= '' then
  local run_id = server_run_id()
  if not string.find(known_servers, run_id, 1, true) then
    return 'server ' .. run_id
  end
end
if current_history(history) ~= known_history or not has_entry(audit, anchors, known_entry) then
  return 'history'
end
local current = redis.call('HMGET', review, 'version', 'chain', 'hint')
if (current[1] or '0') ~= expected or (current[2] or '') ~= head_before then
  return 'conflict'
end
if stale_at ~= '' and clock() > tonumber(stale_at) then
  return 'conflict'
end
if redis.call('ZSCORE', held, id) then
  if hold == '' or count_fields(review, started_prefix) ~= tonumber(started) then
    return 'conflict'
  end
  if hold == 'release' then
    redis.call('ZREM', held, id)
  end
end

if expected ~= '0' then
  -- A write that needs no memory comes first: when memory is full, Redis lets a script continue that has already
  -- written. So new reviews are refused then, but existing reviews can still be shown and decided.
  redis.call('HDEL', review, '')
end
local position = FIRST_ARGUMENT
local function next_argument()
  position = position + 1
  return ARGV[position - 1]
end
for _ = 1, arguments do
  redis.call('HSETNX', review, next_argument(), next_argument())
end
redis.call('HSET', review, 'version', version, 'data', data, 'chain', head)
redis.call('ZADD', thread, thread_score, id)
if status == 'done' then
  redis.call('ZREM', live, id)
elseif expected == '0' then
  redis.call('ZADD', live, thread_score, id)
end

for key, at in pairs({ [due] = due_at, [ready] = ready_at }) do
  if at == '' then
    redis.call('ZREM', key, id)
  else
    redis.call('ZADD', key, at, id)
  end
end

for i = FIRST_AUDIENCE, FIRST_AUDIENCE + added - 1 do
  redis.call('ZADD', KEYS[i], thread_score, id)  -- while it is pending, the time of its submission
end
local first_queue = FIRST_AUDIENCE + added + removed
for i = FIRST_AUDIENCE + added, first_queue - 1 do
  redis.call('ZREM', KEYS[i], id)
end
if decided_at ~= '' then
  redis.call('ZADD', decisions, decided_at, id)
  redis.call('ZREMRANGEBYRANK', decisions, 0, -1 - max_decisions)
  redis.call('PEXPIRE', decisions, keep_decisions)
end
for _ = 1, rejected do
  redis.call('ZADD', rejected_calls, decided_at, next_argument())
end
for _ = 1, superseded do
  redis.call('ZREM', rejected_calls, next_argument())
end
if tonumber(rejected) > 0 then
  redis.call('ZREMRANGEBYRANK', rejected_calls, 0, -1 - max_rejected)
  redis.call('PEXPIRE', rejected_calls, keep_decisions)
end

for i = first_queue, first_queue + places - 1 do
  local lane, place, member = next_argument(), next_argument(), next_argument()
  local score = clock() - head_start
  if redis.call('HEXISTS', review, 'have:' .. place) == 0 then
    score = POSTS + post_order
  end
  add(KEYS[i], queues, change_counts, lane, member, score, nil)
  wake(hints, lane)
end
local stored_entry = ''
if entry ~= '' then
  stored_entry = redis.call('XADD', audit, '*', 'event', entry)
end
if current[3] and status ~= 'settled' then
  -- Nobody needs that hint any more, and it must not keep arguments for longer than the review.
  redis.pcall('XDEL', agent, current[3])
  redis.call('HDEL', review, 'hint')
end
if hint_size ~= '' then
  local hint = { 'review', id }
  if hint_size ~= '0' then
    local answer = answer_fields(redis.call('HGETALL', review), redis.call('ZSCORE', held, id))
    if #answer[2] <= tonumber(hint_size) then
      hint = { 'review', id, 'head', answer[1], 'fields', answer[2] }
    end
  end
  local stored_hint = redis.call('XADD', agent, 'MAXLEN', '~', '10000', '*', unpack(hint))
  if #hint > 2 then
    redis.call('HSET', review, 'hint', stored_hint)
  end
  redis.call('EXPIRE', agent, 86400)  -- only hints: the ready index has all
end

local is_done = keep ~= '0'
if is_done then
  redis.call('PEXPIRE', review, keep)
  redis.call('ZREMRANGEBYSCORE', thread, LIVE_BELOW, thread_score - keep / 1000)
end
local oldest = redis.call('ZRANGE', thread, 0, 0, 'WITHSCORES')
if is_done and tonumber(oldest[2]) >= LIVE_BELOW then
  redis.call('PEXPIRE', thread, keep)
else
  redis.call('PERSIST', thread)
end
return 'stored ' .. stored_entry
