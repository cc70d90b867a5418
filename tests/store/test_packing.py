"""What Redis keeps of reviews and of the audit is packed, and stays readable as long as it is stored."""

from __future__ import annotations

import json

import pytest

from hitl_core.store.redis.packing import _MAX_TEXT, _small_packer, pack, unpack

ENTRY = b'{"at":1795476631.976686,"kind":"delivered","n":2,"place":"default","prev":"ce53"}'
#: As an earlier version of this program has stored it.
STORED = bytes.fromhex("0183652d4b531373333363433d4b206561464e064b4e353556aa0500")


def test_what_was_stored_before_can_be_read() -> None:
    """Given an entry from the past; then the dictionary is still the one that it was packed with."""
    assert unpack(STORED) == ENTRY


@pytest.mark.parametrize("size", [0, 1_000, 4_000, 40_000, 400_000])
def test_text_comes_back_as_it_was(size: int) -> None:
    text = json.dumps({"a": "日本" + "".join(map(str, range(size // 4)))}).encode()
    packed = pack(text)
    assert unpack(packed) == text
    assert len(packed) < len(text) or size == 0 or packed == text


def test_the_longest_text_that_is_packed_comes_back() -> None:
    text = b"x" * _MAX_TEXT
    assert len(pack(text)) < 2_000
    assert unpack(pack(text)) == text


def test_text_that_is_not_packed_can_be_read() -> None:
    assert unpack(b'{"schema_version":1}') == b'{"schema_version":1}'
    assert unpack(b"") == b""


def test_damaged_data_is_an_error() -> None:
    """Other damage is found by who reads it: it is no JSON, or the audit's hash differs."""
    with pytest.raises(ValueError, match="damaged"):
        unpack(b"\x01\xff\xff")


def test_little_data_can_not_become_much() -> None:
    """Given data that would take 50 MB; then it is an error before that."""
    long = pack(b"x" * 1000)
    packer = _small_packer.copy()
    bomb = long[:1] + packer.compress(b"x" * 50_000_000) + packer.flush()
    assert len(bomb) < 300_000
    with pytest.raises(ValueError, match="longer than what is packed"):
        unpack(bomb)
    with pytest.raises(ValueError, match="cut off"):
        unpack(long[:-1])
