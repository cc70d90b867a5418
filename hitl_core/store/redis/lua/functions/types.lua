-- A function of the scripts that write several keys; scripts.py puts this file in front of them. Redis doesn't undo what
-- a script wrote before it failed, so these scripts look at all of their keys before they write.
local SIZE_OF = { hash = 'HLEN', stream = 'XLEN', string = 'STRLEN', zset = 'ZCARD' }

-- Whether a reply is the error of a key that has a value of another type. Other errors say nothing about the key: the user
-- may not be permitted to read it.
local function is_wrong_type(reply)
  return type(reply) == 'table' and reply.err ~= nil and string.find(reply.err, 'WRONGTYPE', 1, true) ~= nil
end

-- The error of the first key that has a value of another type than ours: another program wrote it, or it is damaged. nil
-- if there is none. The types are those of KEYS, in their order, '' for any; the last one is that of all further keys too.
local function find_foreign_key(...)
  local types = { ... }
  for i, key in ipairs(KEYS) do
    local command = SIZE_OF[types[i] or types[#types]]
    local reply = command and redis.pcall(command, key)
    if type(reply) == 'table' then
      return is_wrong_type(reply) and redis.error_reply('WRONGTYPE ' .. key) or reply
    end
  end
end
