-- Read a token. A script, so that it shares a batch with the other calls of its moment.  KEYS 1 tokens (hash)  ARGV 1 id
return redis.call('HGET', KEYS[1], ARGV[1])
