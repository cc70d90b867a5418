-- Find the keys that have a value of another type.  KEYS those to look at  ARGV their types.  Returns their names.
local foreign = {}
for i, key in ipairs(KEYS) do
  local reply = redis.pcall(SIZE_OF[ARGV[i]], key)
  if is_wrong_type(reply) then
    foreign[#foreign + 1] = key
  elseif type(reply) == 'table' then
    return reply
  end
end
return foreign
