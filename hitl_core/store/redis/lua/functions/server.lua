-- A function of the scripts that look at which server they run; scripts.py puts this file in front of those scripts.

-- The `run_id`, which changes at each start and at a failover; '' where INFO is not permitted.
local function server_run_id()
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
end

