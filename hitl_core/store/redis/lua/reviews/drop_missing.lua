-- Remove the name of a review that is not stored any more from the lists of what waits.
-- KEYS 1 review (hash) 2 live (zset) 3 held (zset) 4 due (zset)  ARGV 1 id
-- Returns from how many lists it was removed.
local foreign = find_foreign_key('', 'zset')
if foreign then
  return foreign
end
local removed = 0
if redis.call('EXISTS', KEYS[1]) == 0 then
  for i = 2, #KEYS do
    removed = removed + redis.call('ZREM', KEYS[i], ARGV[1])
  end
end
return removed
