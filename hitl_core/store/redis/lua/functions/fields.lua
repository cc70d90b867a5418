-- The answer of the scripts that read a review: the time, since when it is held (or ""), and its fields. The fields are
-- one text, with the sizes of its parts: redis-py needs longer to read many replies than we need to cut one text.
local function answer_fields(fields, held)
  local sizes = {}
  for i, part in ipairs(fields) do
    sizes[i] = #part
  end
  local time = redis.call('TIME')
  return { time[1], time[2], held or '', table.concat(sizes, ' '), table.concat(fields) }
end
