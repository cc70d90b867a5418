"""Which identities are one human, as the file HITL_PEOPLE says:

people:
  - [slack:U0MARIA, teams:8f3c5e0a-1c1f-4d1e-9a53-0d6f0f2f7b11]
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn, cast

import yaml

from hitl_core.errors import SettingsError
from hitl_core.model import Place, normalize_id
from hitl_core.sentences import join_names

from ..channels.registry import Channels


class People:
    """`humans`: the keys (`CHANNEL:ID`) of each human with several identities; no two share a key."""

    def __init__(self, humans: Iterable[Collection[str]] = ()) -> None:
        self._keys = {key: frozenset(keys) for keys in humans for key in keys}

    def keys_of(self, key: str) -> frozenset[str]:
        """The keys of all identities of the human with this one, itself included."""
        return self._keys.get(key, frozenset((key,)))


_KEY = "people"
#: Channels that a file may name although the bot doesn't have them, so that one file serves different bots.
_KNOWN_CHANNELS = ("slack", "teams")
_EXAMPLE = "`[slack:U0MARIA, teams:8f3c5e0a-1c1f-4d1e-9a53-0d6f0f2f7b11]`"


def load_people(location: str, channels: Channels) -> People:
    """The people in this file. If `location` is "", nobody has several identities. Raises SettingsError with
    the file, the line and what to do.
    """
    if not location:
        return People()
    try:
        text = Path(location).read_text("utf-8")
        root = cast(Any, yaml).compose(text, Loader=yaml.SafeLoader)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise SettingsError(f"HITL_PEOPLE: {location} can't be read: {why}.") from error
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", 0)
        _fail(location, line, f"This is not YAML: {getattr(error, 'problem', None) or error}.")
    humans, line_of = list[list[str]](), dict[str, int]()
    for line, identities in _read_humans(location, root):
        human = [_read_identity(location, line, each, channels) for each in identities]
        for identity in human:
            if identity in line_of:
                _fail(location, line, f"`{identity}` is already in line {line_of[identity] + 1}.")
            line_of[identity] = line
        humans.append(human)
    return People(humans)


def _read_humans(file: str, root: yaml.Node | None) -> Iterator[tuple[int, list[str]]]:
    """The line (from 0) and the identities of each entry. Only their form in YAML is checked."""
    if not isinstance(root, yaml.MappingNode):
        _fail(
            file, 0, f"The file must have one key, `{_KEY}`, with a list of lists like {_EXAMPLE}."
        )
    keys = [str(key.value) for key, _ in root.value]
    for number, (key, _) in enumerate(root.value):
        if key.value != _KEY:
            _fail(file, _line(key), f"Unknown key `{key.value}`: the only key is `{_KEY}`.")
        if _KEY in keys[:number]:
            _fail(file, _line(key), f"`{_KEY}` appears twice: remove one.")
    value = root.value[0][1] if root.value else root
    if not isinstance(value, yaml.SequenceNode):
        _fail(file, _line(value), f"`{_KEY}` must be a list of lists like {_EXAMPLE}.")
    for entry in value.value:
        names = cast(list[yaml.Node], entry.value if isinstance(entry, yaml.SequenceNode) else [])
        if len(names) < 2 or not all(isinstance(one, yaml.ScalarNode) for one in names):
            _fail(
                file, _line(entry), f"Each entry is a list of two identities or more: {_EXAMPLE}."
            )
        yield _line(entry), [normalize_id(str(cast(Any, one).value)) for one in names]


def _read_identity(file: str, line: int, identity: str, channels: Channels) -> str:
    """The identity in its normal spelling."""
    place = None
    with suppress(ValueError):
        place = Place(identity)
    if place is None or not place.channel or place != place.conversation:
        _fail(file, line, f"`{identity}` is not CHANNEL:ID of a person, such as `slack:U0MARIA`.")
    channel = channels.get(place.channel)
    if channel is None and place.channel not in _KNOWN_CHANNELS:
        known = join_names(dict.fromkeys([*channels.names, *_KNOWN_CHANNELS]))
        _fail(file, line, f"`{identity}`: there is no channel `{place.channel}`, only {known}.")
    if channel is not None and channel.audience(place).kind != "person":
        _fail(file, line, f"`{identity}` is not a person's id in {place.channel}.")
    return str(place)


def _line(node: yaml.Node) -> int:
    return cast(Any, node).start_mark.line


def _fail(file: str, line: int, text: str) -> NoReturn:
    raise SettingsError(f"HITL_PEOPLE: {file}, line {line + 1}: {text}")
