-- Delete one dead letter.  KEYS 1 dead letters (stream) 2 dead letter counts (hash)  ARGV 1 stream entry 2 review
-- Returns 1, or 0 if it is no longer there.
local foreign = find_foreign_key('stream', 'hash')
if foreign then
  return foreign
end
if redis.call('XDEL', KEYS[1], ARGV[1]) == 0 then
  return 0
end
count_down(KEYS[2], ARGV[2])
return 1
