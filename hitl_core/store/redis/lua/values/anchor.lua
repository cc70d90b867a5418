-- Add an anchor, if the last stored anchor is the one before it. If two bots seal at once, one of them succeeds.
-- KEYS 1 anchors (stream)
-- ARGV 1 root of the anchor before, or ""  2 id of the new anchor's last entry  3 root  4 anchor (JSON)
-- Returns 1 if the anchor is now the last one (also if it was already), else 0.
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
