-- Store one transition of one review: compare the version and the head of its audit, then write the review with
-- its events and indexes.
--
-- KEYS  1 review (hash)   2 thread (zset)   3 due (zset)   4 ready (zset)
--       5 events (stream) 6 audit (stream)  7 agent (stream) 8 live (zset)
--       9 whoever had a say (zset; not written where ARGV 17 is "")
--      10… audiences that it has now, then those that it has no more (zsets)
-- ARGV  1 id              2 expected version, "0" where the review must not exist yet
--       3 version         4 data (JSON)     5 status
--       6 thread score    7 due at, or ""   8 ready at, or ""
--       9 event for the bots, or ""        10 entry of the audit, or ""
--      11 "1" to wake the agent            12 milliseconds to keep a done review, or "0"
--      13 places that show it (JSON)       14 expected head    15 head
--      16 how many audiences it joins      17 when somebody had a say, or ""
--      18 milliseconds to remember a say   19 how many says
--      20… field, bytes: what is written once
-- Answers 1, or 0 where another version is stored. Validates first, writes last.

local LIVE_BELOW = 1e11  -- done reviews stand behind the live ones in the thread, by this much

local current = redis.call('HMGET', KEYS[1], 'version', 'chain')
if (current[1] or '0') ~= ARGV[2] or (current[2] or '') ~= ARGV[14] then
  return 0
end

if ARGV[2] ~= '0' then
  -- A write that needs no memory goes first, because Redis lets a script that has written go on when memory
  -- is full: new reviews are refused then, and those that exist can still be shown and decided.
  redis.call('HDEL', KEYS[1], '')
end
for i = 20, #ARGV, 2 do
  redis.call('HSETNX', KEYS[1], ARGV[i], ARGV[i + 1])
end
redis.call('HSET', KEYS[1], 'version', ARGV[3], 'data', ARGV[4], 'status', ARGV[5], 'chain', ARGV[15])
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

for i = 10, #KEYS do
  if i < 10 + tonumber(ARGV[16]) then
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

if ARGV[9] ~= '' then
  redis.call('XADD', KEYS[5], '*', 'review', ARGV[1], 'places', ARGV[13], 'event', ARGV[9])
end
if ARGV[10] ~= '' then
  redis.call('XADD', KEYS[6], '*', 'event', ARGV[10])
end
if ARGV[11] == '1' then
  redis.call('XADD', KEYS[7], 'MAXLEN', '~', '10000', '*', 'review', ARGV[1])
  redis.call('EXPIRE', KEYS[7], 86400)  -- only hints: the ready index is the truth
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
return 1
