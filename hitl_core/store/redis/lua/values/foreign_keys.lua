-- Find the keys that have a value of another type.  KEYS those to look at  ARGV their types.  Returns their names.
local foreign = {}
for i, key in ipairs(KEYS) do
  if type(redis.pcall(SIZE_OF[ARGV[i]], key)) == 'table' then
    foreign[#foreign + 1] = key
  end
end
return foreign
