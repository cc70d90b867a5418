-- Acknowledge entries and delete them, in one step; a MULTI would be refused while memory is full.
-- KEYS 1 events (stream).  ARGV 1 group, 2… entries.
redis.call('XACK', KEYS[1], unpack(ARGV))
redis.call('XDEL', KEYS[1], unpack(ARGV, 2))
