"""Defaults that the agents, the bot and the command line share. Importing them imports nothing else."""

#: The URL of the Redis where no other one is given.
DEFAULT_REDIS_URL = "redis://localhost:6379/0"
