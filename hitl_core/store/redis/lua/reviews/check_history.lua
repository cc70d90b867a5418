-- Compare what a process has seen of a partition with what is stored. If Redis lost writes, hold all live reviews: what
-- is stored of them may be older than what people were told, and than what agents did.
-- The score of a held review is the time since which it is held: that of the first hold without a release after it.
-- KEYS 1 history (string) 2 audit (stream) 3 live (zset) 4 held (zset) 5 due (zset)
-- ARGV 1 history that the process knows, or ""  2 last entry that it has seen, or ""  3 id of a new history
--      4 "1" to hold in any case  5 how many histories are kept
-- Returns {state, history, last entry, number of reviews that are held now}. The state is "same"; "other" if another
-- process found a loss since; or "lost" if this process found it.
local AT_ONCE = 1000
local foreign = find_foreign_key('string', 'stream', 'zset', 'zset', '')
if foreign then
  return foreign
end
local list = redis.call('GET', KEYS[1]) or ''
local state = 'same'
if ARGV[4] == '1' then
  state = 'lost'
elseif ARGV[1] ~= '' and current_history(KEYS[1]) ~= ARGV[1] then
  state = string.find(list, ARGV[1], 1, true) and 'other' or 'lost'
elseif ARGV[1] ~= '' and not has_entry(KEYS[2], ARGV[2]) then
  state = 'lost'
end
if state == 'lost' or list == '' then
  redis.call('DEL', KEYS[state == 'lost' and 5 or 1])  -- makes the writes work when memory is full: see commit.lua
  if state == 'lost' then
    local now, ids = text(clock()), redis.call('ZRANGE', KEYS[3], 0, -1)
    for first = 1, #ids, AT_ONCE do
      local added = {}
      for i = first, math.min(first + AT_ONCE - 1, #ids) do
        added[#added + 1] = now
        added[#added + 1] = ids[i]
      end
      redis.call('ZADD', KEYS[4], 'NX', unpack(added))
    end
  end
  local ids = ARGV[3] .. ' ' .. list
  if ARGV[1] ~= '' and not string.find(list, ARGV[1], 1, true) then
    ids = ARGV[3] .. ' ' .. ARGV[1] .. ' ' .. list
  end
  redis.call('SET', KEYS[1], string.sub(ids, 1, (ID_LENGTH + 1) * tonumber(ARGV[5])))
end
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
return { state, current_history(KEYS[1]), last and last[1] or '', redis.call('ZCARD', KEYS[4]) }
