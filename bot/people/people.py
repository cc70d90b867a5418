"""Which identities are one human. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable


class People:
    """`humans` are those with several identities: the keys (`CHANNEL:ID`) of each. No key belongs to two."""

    def __init__(self, humans: Iterable[Collection[str]] = ()) -> None:
        self._keys = {key: frozenset(keys) for keys in humans for key in keys}

    def keys_of(self, key: str) -> frozenset[str]:
        """The keys of all identities of the human with this one, itself included."""
        return self._keys.get(key, frozenset((key,)))
