-- Compare what a process has seen of a partition with what is stored. If Redis lost writes, hold all live reviews: what
-- is stored of them may be older than what people were told, and than what agents did.
-- The score of a held review is the time since which it is held: that of the first hold without a release after it.
-- What the process knows: a history, or ""; the last entry that it has seen, or "". `new_history`: an id for a new one;
-- `holds_anyway`: "1" to hold in any case.
-- Returns {state, history, last entry, number of reviews that are held now}. The state is "same"; "other" if another
-- process found a loss since; or "lost" if this process found it.
local AT_ONCE = 1000
local history, audit, anchors, live, held, due = unpack(KEYS)
local known_history, known_entry, new_history, holds_anyway, max_histories = unpack(ARGV)
local foreign = find_foreign_key('string', 'stream', 'stream', 'zset', 'zset', '')
if foreign then
  return foreign
end
local list = redis.call('GET', history) or ''
local state = 'same'
if holds_anyway == '1' then
  state = 'lost'
elseif known_history ~= '' and current_history(history) ~= known_history then
  state = string.find(list, known_history, 1, true) and 'other' or 'lost'
elseif known_history ~= '' and not has_entry(audit, anchors, known_entry) then
  state = 'lost'
end
if state == 'lost' or list == '' then
  redis.call('DEL', state == 'lost' and due or history)  -- makes the writes work when memory is full: see commit.lua
  if state == 'lost' then
    local now, ids = text(clock()), redis.call('ZRANGE', live, 0, -1)
    for first = 1, #ids, AT_ONCE do
      local added = {}
      for i = first, math.min(first + AT_ONCE - 1, #ids) do
        added[#added + 1] = now
        added[#added + 1] = ids[i]
      end
      redis.call('ZADD', held, 'NX', unpack(added))
    end
  end
  local ids = new_history .. ' ' .. list
  if known_history ~= '' and not string.find(list, known_history, 1, true) then
    ids = new_history .. ' ' .. known_history .. ' ' .. list
  end
  redis.call('SET', history, string.sub(ids, 1, (ID_LENGTH + 1) * tonumber(max_histories)))
end
local last = redis.call('XREVRANGE', audit, '+', '-', 'COUNT', 1)[1]
return { state, current_history(history), last and last[1] or '', redis.call('ZCARD', held) }
