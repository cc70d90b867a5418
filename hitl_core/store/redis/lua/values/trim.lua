-- Delete the audit up to the end of an anchor, and the anchors before it, in one step: history.lua takes an entry that is
-- missing for deleted only up to the first anchor.
-- KEYS 1 audit (stream) 2 anchors (stream)  ARGV 1 the first id that stays 2 the first anchor that stays
local foreign = find_foreign_key('stream')
if foreign then
  return foreign
end
redis.call('XTRIM', KEYS[1], 'MINID', ARGV[1])
redis.call('XTRIM', KEYS[2], 'MINID', ARGV[2])
