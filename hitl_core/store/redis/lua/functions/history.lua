-- Functions of the scripts that compare what a process has seen of a partition with what is stored. If Redis lost its
-- latest writes (at a crash, a failover, or with an old backup), an entry of the audit is missing that a process has
-- seen. `history` has the ids of the partition's histories, the newest first: each loss begins a new one.
local ID_LENGTH = 16

local function current_history(history)
  return string.sub(redis.call('GET', history) or '', 1, ID_LENGTH)
end

local function is_before(a, b)
  local a_ms, a_number = string.match(a, '^(%d+)-(%d+)$')
  local b_ms, b_number = string.match(b, '^(%d+)-(%d+)$')
  if tonumber(a_ms) ~= tonumber(b_ms) then
    return tonumber(a_ms) < tonumber(b_ms)
  end
  return tonumber(a_number) < tonumber(b_number)
end

-- Whether the audit has this entry, or had it before it was trimmed: up to the end of its first anchor, see trim.lua.
local function has_entry(audit, anchors, entry)
  if entry == '' or #redis.call('XRANGE', audit, entry, entry) > 0 then
    return true
  end
  local first = redis.call('XRANGE', anchors, '-', '+', 'COUNT', 1)[1]
  return first ~= nil and not is_before(first[1], entry)
end
