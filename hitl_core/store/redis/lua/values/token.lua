-- Read a token. It is a script so that it shares a batch with other script calls (batches.py).  KEYS 1 tokens (hash)  ARGV 1 id
return redis.call('HGET', KEYS[1], ARGV[1])
