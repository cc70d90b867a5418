"""Stores many copies of a recorded review, each with its own id, thread, times, message and chain.

A copy has exactly the keys and values of a real review (a test compares them), but no script runs for it, so
a million take minutes, not hours.
"""

from __future__ import annotations

import hashlib
import re
import socket
import time
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import urlsplit

from benchmarks.measures.growth.recording import AGENT, Record, Recording, thread_of
from hitl_core.audit import Anchor
from hitl_core.audit.sealer import MAX_RANGE
from hitl_core.store import MAX_DECIDED, Keys, make_review_id
from hitl_core.store.redis.packing import pack

#: A time in a recording, in seconds; also with the offset that done reviews have (`DONE_OFFSET`).
_TIME = re.compile(rb"(?<![\d.])(?:10)?1[79]\d{8}(?=\.\d)")
_HASH = re.compile(rb'"hash":"([0-9a-f]{64})",')
_MESSAGE = re.compile(rb"18\d{8}\.\d{6}")
#: The fields whose values are packed.
_PACKED = (b"data", b"event")
#: How many bytes are sent at once.
_CHUNK = 1 << 20
#: How long Redis may take for the last of them, in seconds.
_PATIENCE = 120.0


def store_copies(url: str, recordings: Sequence[Recording], count: int) -> None:
    """Store `count` reviews, of each kind in turn, submitted one per second until now."""
    start = int(time.time()) - count
    templates, anchors = [_Template(recording) for recording in recordings], _Anchors()
    where = urlsplit(url)
    with socket.create_connection((where.hostname, where.port or 6379), _PATIENCE) as connection:
        connection.sendall(_command(b"CLIENT", b"REPLY", b"OFF"))
        chunk, size = list[bytes](), 0
        for number in range(count):
            template = templates[number % len(templates)]
            is_recent = number >= count - MAX_DECIDED * len(templates)
            text, entries = template.fill(number, start + number, is_recent=is_recent)
            chunk.append(text + anchors.add(entries))
            size += len(chunk[-1])
            if size > _CHUNK:
                connection.sendall(b"".join(chunk))
                chunk, size = [], 0
        connection.sendall(b"".join(chunk) + _command(b"CLIENT", b"REPLY", b"ON"))
        if (answer := connection.recv(100)) != b"+OK\r\n":
            raise RuntimeError(f"Redis answered {answer!r}.")


class _Template:
    """The commands that store one recorded review, with a blank for everything that differs in a copy."""

    def __init__(self, recording: Recording) -> None:
        self._recording, self._seconds = recording, int(recording.at)
        entries = [
            value
            for record in recording.records
            if record.type == "stream"
            for _, value in record.content
        ]
        self._hashes = [_HASH.search(entry) for entry in entries]
        hashes = [found[1] for found in self._hashes if found]
        self._times = dict[bytes, bytes]()
        self._blanks = {
            b"%d000-" % self._seconds: b"%(second)b000-",
            recording.review_id.encode(): b"%(id)b",
            recording.thread_id.encode(): b"%(thread)b",
            Keys(0).thread(recording.thread_id).encode(): b"%(thread_key)b",
            **{entry_hash: b"%%(hash%d)b" % number for number, entry_hash in enumerate(hashes)},
        }
        # An entry's hash is over the entry without it.
        self._entries = [self._blank(_HASH.sub(b"", entry)) for entry in entries]
        packed = list[bytes]()
        shared = [record for record in recording.records if ":decided:" not in record.key]
        recent = [record for record in recording.records if ":decided:" in record.key]
        self._commands = self._blank(b"".join(_commands(shared, self._seconds, packed)))
        self._recent = self._blank(b"".join(_commands(recent, self._seconds, packed)))
        self._packed = [self._blank(text) for text in packed]

    def fill(self, number: int, at: int, *, is_recent: bool) -> tuple[bytes, list[tuple[str, str]]]:
        """The commands of one copy that was submitted at this second, and the ids and hashes of its entries.
        `is_recent`: it is among the latest that its people decided.
        """
        thread = thread_of(number)
        values = {
            b"id": make_review_id(0, AGENT, thread, "1", ["call-1"]).encode(),
            b"thread": thread.encode(),
            b"thread_key": Keys(0).thread(thread).encode(),
            b"second": b"%d" % at,
            b"message": b"18%08d.%06d" % divmod(number, 1_000_000),
        }
        for seconds, name in self._times.items():
            values[name] = b"%d" % (int(seconds) + at - self._seconds)
        hashes = list[tuple[str, str]]()
        for index, entry in enumerate(self._entries):
            entry_hash = hashlib.sha256(entry % values).hexdigest()
            values[b"hash%d" % index] = entry_hash.encode()
            hashes.append((f"0:{at}000-{index}", entry_hash))
        for index, packed in enumerate(self._packed):
            values[b"packed%d" % index] = _part(pack(packed % values))
        text = self._commands % values
        return (text + self._recent % values if is_recent else text), hashes

    def _blank(self, text: bytes) -> bytes:
        """The text with blanks. A blank's value is as long as what it replaces, because the protocol contains
        lengths; only packed values may differ.
        """
        text = re.sub(rb"\0(\d+)\0", rb"%(packed\1)b", text.replace(b"%", b"%%"))
        for known, blank in self._blanks.items():
            text = text.replace(known, blank)
        text = _MESSAGE.sub(b"%(message)b", text)
        return _TIME.sub(self._time_blank, text)

    def _time_blank(self, match: re.Match[bytes]) -> bytes:
        name = self._times.setdefault(match[0], b"at%d" % len(self._times))
        return b"%%(%b)b" % name


class _Anchors:
    """Seals the audit, as a bot does every minute."""

    def __init__(self) -> None:
        self._open, self._root = list[tuple[str, str]](), ""

    def add(self, entries: Sequence[tuple[str, str]]) -> bytes:
        """The command that adds an anchor, if there are enough entries for one."""
        self._open += entries
        if len(self._open) < MAX_RANGE:
            return b""
        anchor = Anchor.from_entries(self._open, self._root)
        self._open, self._root = [], anchor.root
        fields = ("root", anchor.root, "anchor", anchor.to_line())
        last = anchor.last.partition(":")[2]
        return _command(b"XADD", Keys(0).anchors.encode(), last.encode(), *map(str.encode, fields))


def _commands(records: Iterable[Record], at: int, packed: list[bytes]) -> Iterator[bytes]:
    """The commands that write these keys. Entries of streams have ids of this second. Values that are packed
    are added to `packed`; the command has their index between two zero bytes.
    """
    for record in records:
        key, pairs = record.key.encode(), record.content
        if record.type == "hash":
            parts = [part for name, value in pairs for part in _pair(name, value, packed)]
            yield _command(b"HSET", key, parts=parts)
        elif record.type == "zset":
            yield _command(b"ZADD", key, *(part for pair in pairs for part in reversed(pair)))
        else:
            for number, (name, value) in enumerate(pairs):
                id = b"%d000-%d" % (at, number)
                yield _command(b"XADD", key, id, parts=_pair(name, value, packed))
        if record.ttl > 0:
            yield _command(b"PEXPIRE", key, b"%d" % record.ttl)


def _pair(name: bytes, value: bytes, packed: list[bytes]) -> list[bytes]:
    """A field and its value, as parts of a command."""
    if name not in _PACKED:
        return [_part(name), _part(value)]
    packed.append(value)
    return [_part(name), b"\0%d\0" % (len(packed) - 1)]


def _command(*words: bytes, parts: Sequence[bytes] = ()) -> bytes:
    """In Redis's protocol (https://redis.io/docs/latest/develop/reference/protocol-spec/). `parts` are
    written already.
    """
    all_parts = [*map(_part, words), *parts]
    return b"*%d\r\n" % len(all_parts) + b"".join(all_parts)


def _part(word: bytes) -> bytes:
    return b"$%d\r\n%b\r\n" % (len(word), word)
