-- Read what is due by this server's clock; nothing is removed.  KEYS 1 index (zset)  ARGV 1 limit
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1e6
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.6f', now), 'LIMIT', 0, ARGV[1])
