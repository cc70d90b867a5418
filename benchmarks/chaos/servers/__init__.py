"""The Redis under test: a single server, one behind Sentinels, or a Redis Cluster. It is started, killed and
frozen.
"""

from benchmarks.chaos.servers.replicated import ClusterRedis, SentinelRedis
from benchmarks.chaos.servers.server import Server
from benchmarks.chaos.servers.single import LossyRedis, SingleRedis

__all__ = ["ClusterRedis", "LossyRedis", "SentinelRedis", "Server", "SingleRedis"]
