-- Functions of the scripts that change a digest; scripts.py puts this file in front of them, behind queue.lua.

local function has_waiting(digest)
  for _, field in ipairs(redis.call('HKEYS', digest)) do
    if string.sub(field, 1, 5) == 'wait:' then
      return true
    end
  end
  return false
end

-- Queue the digest's message, if it has one, and let a digest where nothing waits expire.
local function digest_changed(digest, queue, queues, change_counts, hints, lane, member, keep)
  if has_waiting(digest) then
    redis.call('PERSIST', digest)
  else
    redis.call('PEXPIRE', digest, keep)
  end
  if redis.call('HEXISTS', digest, 'post') == 1 then
    add(queue, queues, change_counts, lane, member, clock(), nil)
    wake(hints, lane)
  end
end
