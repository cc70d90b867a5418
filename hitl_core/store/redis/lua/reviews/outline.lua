-- Read a review without its arguments, and the time.  KEYS, ARGV and the answer are those of load.lua.
local names = redis.pcall('HKEYS', KEYS[1])
local fields = names.err and names or {}
for _, name in ipairs(names) do
  if string.sub(name, 1, 5) ~= 'args:' then
    fields[#fields + 1] = name
    fields[#fields + 1] = redis.call('HGET', KEYS[1], name)
  end
end
return answer_fields(fields, redis.call('ZSCORE', KEYS[2], ARGV[1]))
