-- Refuses a script, before it writes, to a user who may not execute each of its COMMANDS: Redis doesn't undo what a
-- script wrote before it failed, and permissions can be taken away while programs run. scripts.py puts this file in front
-- of each script. Redis 6.2 can't say what is permitted.
for _, command in ipairs(COMMANDS) do
  local is_known, is_permitted = pcall(redis.acl_check_cmd, command, KEYS[1])
  if is_known and not is_permitted then
    return redis.error_reply('NOPERM the command ' .. command)
  end
end

