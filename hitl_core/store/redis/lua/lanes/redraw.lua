-- Queue a job for a card's message.
-- KEYS 1 review (hash) 2 queue (zset) 3 queues (zset) 4 change counts (hash) 5 hints (stream)
-- ARGV 1 lane 2 member 3 note 4 seconds before now 5 seconds until it is due, or nothing
local foreign = find_foreign_key('hash', 'zset', 'zset', 'hash', 'stream')
if foreign then
  return foreign
end
if redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('HDEL', KEYS[4], '')  -- makes the writes work when memory is full: see commit.lua
  local delay = tonumber(ARGV[5] or 0)
  if delay > 0 then
    add_later(KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[2], clock() + delay, ARGV[3])
    return
  end
  add(KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[2], clock() - tonumber(ARGV[4]), ARGV[3])
  wake(KEYS[5], ARGV[1])
end
