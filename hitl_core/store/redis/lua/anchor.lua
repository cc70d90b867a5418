-- Add an anchor behind the last one, if that is the one before it: of two bots that seal at once one adds.
-- KEYS 1 anchors (stream).  ARGV 1 root of the one before, or ""  2 id of its last entry  3 root  4 anchor (JSON).
-- Answers 1, also where it is the last one already, or 0 where another one is.
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local root = last and last[2][2] or ''
if root == ARGV[3] then
  return 1
end
if root ~= ARGV[1] then
  return 0
end
redis.call('XADD', KEYS[1], ARGV[2], 'root', ARGV[3], 'anchor', ARGV[4])
return 1
