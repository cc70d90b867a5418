-- A write without content: WAIT after it counts the replicas that have everything that was written before.
-- KEYS 1 any key of the partition
redis.call('SET', KEYS[1], '1', 'PX', 1000)
