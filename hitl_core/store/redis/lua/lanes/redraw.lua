-- Queue a job for a card's message.
-- `delay`: in how many seconds it is due; 0: now, and the bots are woken.
local review, queue, queues, change_counts, hints = unpack(KEYS)
local lane, member, note, delay = unpack(ARGV)
local foreign = find_foreign_key('hash', 'zset', 'zset', 'hash', 'stream')
if foreign then
  return foreign
end
if redis.call('EXISTS', review) == 1 then
  redis.call('HDEL', change_counts, '')  -- makes the writes work when memory is full: see commit.lua
  if tonumber(delay) > 0 then
    add_later(queue, queues, change_counts, lane, member, clock() + tonumber(delay), note)
  else
    add(queue, queues, change_counts, lane, member, clock(), note)
    wake(hints, lane)
  end
end
