-- The answer of the scripts that read a review: {"seconds microseconds held size size …", the fields in one text}. `held`
-- is since when it is held, or "-"; the sizes are those of the fields' names and values. These are two texts, because
-- redis-py needs longer to read many replies than we need to cut one text.
-- `fields` may be an error: of a key that has a value of another type, the answer has one field, which no review has.
local function answer_fields(fields, held)
  if fields.err and not string.find(fields.err, 'WRONGTYPE', 1, true) then
    return fields  -- what is stored is not known: the user may not be permitted to read it
  elseif fields.err then
    fields = { '', '' }
  end
  local head = redis.call('TIME')
  head[3] = held or '-'
  for i, part in ipairs(fields) do
    head[i + 3] = #part
  end
  return { table.concat(head, ' '), table.concat(fields) }
end
