-- Which of these commands the user may not execute. Redis 6.2 can't say it.  KEYS 1 a key of this server  ARGV commands
local forbidden = {}
for _, command in ipairs(ARGV) do
  local is_known, is_permitted = pcall(redis.acl_check_cmd, command, KEYS[1])
  if is_known and not is_permitted then
    forbidden[#forbidden + 1] = command
  end
end
return forbidden
