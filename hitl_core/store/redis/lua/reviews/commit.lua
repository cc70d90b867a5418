-- Store one transition of one review: compare the version and the head of its audit, then write the review with its
-- event and its indexes.
--
-- KEYS  1 review (hash)   2 thread (zset)   3 due (zset)   4 ready (zset)
--       5 hints (stream)  6 audit (stream)  7 agent (stream) 8 live (zset)
--       9 decisions of the event's person (zset; not written if ARGV 17 is "")
--      10 queues (zset)  11 change counts (hash)
--      12 rejected calls of the thread (zset; not written without changes)
--      13 history (string)  14 held (zset): see history.lua
--      15… added audiences, then removed ones (zsets); then the queue of each place (zset)
-- ARGV  1 id              2 expected version, "0" if the review must not exist yet
--       3 version         4 data (JSON)     5 status
--       6 thread score    7 due at, or ""   8 ready at, or ""
--       9 number of places to redraw       10 entry of the audit, or ""
--      11 "1" to wake the agent            12 milliseconds to keep a done review, or "0"
--      13 order of its first posts          14 expected head    15 head
--      16 number of added audiences        17 time of a person's decision, or ""
--      18 milliseconds to keep decisions   19 how many decisions are kept
--      20 number of removed audiences      21 how many seconds earlier than now its cards are queued
--      22 number of added rejected calls    23 number of removed ones
--      24 how many rejected calls are kept   25 the history that the process knows
--      26 the last entry that it has seen, or ""
--      27 "release" for a write that releases a held review, "keep" for one after which it is still held, else "";
--         a held review is written only if it has 29 fields that begin with 28
--      30 the servers that the process knows, or "" if the write may be done on any
--      31… added rejected calls, then removed ones; then lane, place, the card's member, for each place; then field,
--          bytes, for each new revision of arguments
-- Returns "stored ID", with the id of the entry or ""; "conflict" if another version is stored, if the review is held, or
-- if its release doesn't know all that an agent has started; "server RUN_ID" on an unknown server; or "history" if what
-- the process has seen is not what is stored: see check_history.lua. Compares first, writes last.

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
  'hash', 'zset', 'zset', 'zset', 'stream', 'stream', 'stream', 'zset', 'zset', 'zset', 'hash', 'zset', 'string', 'zset'
)
if foreign then
  return foreign
end
if ARGV[30] ~= '' then
  local run_id = server_run_id()
  if not string.find(ARGV[30], run_id, 1, true) then
    return 'server ' .. run_id
  end
end
if current_history(KEYS[13]) ~= ARGV[25] or not has_entry(KEYS[6], ARGV[26]) then
  return 'history'
end
local current = redis.call('HMGET', KEYS[1], 'version', 'chain')
if (current[1] or '0') ~= ARGV[2] or (current[2] or '') ~= ARGV[14] then
  return 'conflict'
end
if redis.call('ZSCORE', KEYS[14], ARGV[1]) then
  if ARGV[27] == '' or count_fields(KEYS[1], ARGV[28]) ~= tonumber(ARGV[29]) then
    return 'conflict'
  end
  if ARGV[27] == 'release' then
    redis.call('ZREM', KEYS[14], ARGV[1])
  end
end

if ARGV[2] ~= '0' then
  -- A write that needs no memory comes first: when memory is full, Redis lets a script continue that has already
  -- written. So new reviews are refused then, but existing reviews can still be shown and decided.
  redis.call('HDEL', KEYS[1], '')
end
local places, added = tonumber(ARGV[9]), tonumber(ARGV[16])
local audiences = added + tonumber(ARGV[20])
local rejected, superseded = tonumber(ARGV[22]), tonumber(ARGV[23])
local first_lane = 31 + rejected + superseded
for i = first_lane + 3 * places, #ARGV, 2 do
  redis.call('HSETNX', KEYS[1], ARGV[i], ARGV[i + 1])
end
redis.call('HSET', KEYS[1], 'version', ARGV[3], 'data', ARGV[4], 'chain', ARGV[15])
redis.call('ZADD', KEYS[2], ARGV[6], ARGV[1])
if ARGV[5] == 'done' then
  redis.call('ZREM', KEYS[8], ARGV[1])
elseif ARGV[2] == '0' then
  redis.call('ZADD', KEYS[8], ARGV[6], ARGV[1])
end

for key, at in pairs({ [KEYS[3]] = ARGV[7], [KEYS[4]] = ARGV[8] }) do
  if at == '' then
    redis.call('ZREM', key, ARGV[1])
  else
    redis.call('ZADD', key, at, ARGV[1])
  end
end

for i = 15, 14 + audiences do
  if i < 15 + added then
    redis.call('ZADD', KEYS[i], ARGV[6], ARGV[1])  -- while it is pending, the time of its submission
  else
    redis.call('ZREM', KEYS[i], ARGV[1])
  end
end
if ARGV[17] ~= '' then
  redis.call('ZADD', KEYS[9], ARGV[17], ARGV[1])
  redis.call('ZREMRANGEBYRANK', KEYS[9], 0, -1 - tonumber(ARGV[19]))
  redis.call('PEXPIRE', KEYS[9], ARGV[18])
end
for i = 31, 30 + rejected do
  redis.call('ZADD', KEYS[12], ARGV[17], ARGV[i])
end
for i = 31 + rejected, first_lane - 1 do
  redis.call('ZREM', KEYS[12], ARGV[i])
end
if rejected > 0 then
  redis.call('ZREMRANGEBYRANK', KEYS[12], 0, -1 - tonumber(ARGV[24]))
  redis.call('PEXPIRE', KEYS[12], ARGV[18])
end

for i = 0, places - 1 do
  local at = first_lane + 3 * i
  local lane, place, member = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local score = clock() - tonumber(ARGV[21])
  if redis.call('HEXISTS', KEYS[1], 'have:' .. place) == 0 then
    score = POSTS + tonumber(ARGV[13])
  end
  add(KEYS[15 + audiences + i], KEYS[10], KEYS[11], lane, member, score, nil)
  wake(KEYS[5], lane)
end
local entry = ''
if ARGV[10] ~= '' then
  entry = redis.call('XADD', KEYS[6], '*', 'event', ARGV[10])
end
if ARGV[11] == '1' then
  redis.call('XADD', KEYS[7], 'MAXLEN', '~', '10000', '*', 'review', ARGV[1])
  redis.call('EXPIRE', KEYS[7], 86400)  -- only hints: the ready index has all
end

local keep = tonumber(ARGV[12])
if keep > 0 then
  redis.call('PEXPIRE', KEYS[1], keep)
  redis.call('ZREMRANGEBYSCORE', KEYS[2], LIVE_BELOW, tonumber(ARGV[6]) - keep / 1000)
end
local oldest = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
if keep > 0 and tonumber(oldest[2]) >= LIVE_BELOW then
  redis.call('PEXPIRE', KEYS[2], keep)
else
  redis.call('PERSIST', KEYS[2])
end
return 'stored ' .. entry
