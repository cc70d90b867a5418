"""Whether an export is whole: every entry as it was written, none missing, none moved. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from hitl_core.audit.anchor import Anchor, place_of
from hitl_core.audit.canonical import JsonObject, hash_of
from hitl_core.errors import HitlError, InvalidToolCall
from hitl_core.model import decode

_OUT_OF_PLACE = "it stands out of order, or twice"


class Broken(HitlError):
    """The first link that doesn't hold: the line's number, from 1, and whose entry it is."""

    def __init__(self, line: int, subject: str, problem: str) -> None:
        super().__init__(f"line {line}: {f'{subject}: ' if subject else ''}{problem}.")
        self.line, self.subject, self.problem = line, subject, problem


class _Partition:
    """What has been read of one partition. `start` is the anchor before its first line, None where that is
    the beginning; `open` are the ids and hashes that wait for their anchor.
    """

    def __init__(self, start: Anchor | None = None) -> None:
        self.start = self.last = start
        self.place = place_of(start.last) if start else (0, -1, -1)
        self.heads: dict[str, tuple[int, str]] = {}
        self.done: set[str] = set()
        self.open: list[tuple[str, str]] = []


class Verifier:
    """Takes an export line by line. Each method raises Broken for the first thing that is wrong."""

    def __init__(self, known: Iterable[tuple[str, str]] = ()) -> None:
        """`known` are anchors of which a copy was kept elsewhere: their last entry's id, and their root."""
        self._known = dict(known)
        self._partitions: dict[int, _Partition] = {}
        self.lines = self.entries = self.anchors = 0

    @property
    def last(self) -> list[Anchor]:
        """The last anchor of each partition."""
        return [part.last for _, part in sorted(self._partitions.items()) if part.last]

    @property
    def subjects(self) -> int:
        """How many reviews, and agents whose policy changed, it tells of."""
        return sum(len(part.heads) for part in self._partitions.values())

    @property
    def complete(self) -> bool:
        """Whether it begins at the beginning."""
        return all(part.start is None for part in self._partitions.values())

    def expect(self, anchor: Anchor) -> None:
        """It must hold this one, or begin behind it."""
        self._known[anchor.last] = anchor.root

    def take(self, line: str | bytes) -> None:
        self.lines += 1
        try:
            said = decode(line)
        except InvalidToolCall as error:
            raise self._broken("", "it is no JSON object, or names something twice") from error
        if "root" in said:
            self._end_range(self._read(said))
        elif "follows" in said:
            self._begin(said)
        else:
            self._take_entry(said)

    def end(self, *, sealed: bool = True) -> None:
        """Nothing comes any more. `sealed`: all of it should have its anchor by now."""
        for part in self._partitions.values():
            if sealed and part.open:
                raise self._broken(
                    "", f"it was cut off here, before the anchor of {part.open[-1][0]}"
                )
        for anchor in self._known:
            raise self._broken("", f"it was cut off here, before the anchor {anchor}")

    def _begin(self, said: JsonObject) -> None:
        before = self._read(said.pop("follows"))
        number = place_of(before.last)[0]
        if said or number in self._partitions:
            raise self._broken("", _OUT_OF_PLACE)
        self._partitions[number] = _Partition(before)
        self._compare(before)

    def _take_entry(self, said: JsonObject) -> None:
        id, hashed = said.pop("id", None), said.pop("hash", None)
        subject = _subject(said)
        if hashed != _hash_of(said):
            raise self._broken(subject, "it was changed: its hash is another one")
        part = self._placed(str(id), subject)
        self._link(part, subject, said, hashed)
        part.open.append((str(id), hashed))
        self.entries += 1

    def _placed(self, id: str, subject: str) -> _Partition:
        """Ids only rise."""
        try:
            place = place_of(id)
        except ValueError as error:
            raise self._broken(subject, "its id was changed") from error
        part = self._partitions.setdefault(place[0], _Partition())
        if place[1:] <= part.place[1:]:
            raise self._broken(subject, _OUT_OF_PLACE)
        part.place = place
        return part

    def _link(self, part: _Partition, subject: str, said: JsonObject, hashed: str) -> None:
        """Each entry of a subject follows the one before it."""
        number, prev, head = said["n"], said["prev"], part.heads.get(subject)
        part.heads[subject] = number, hashed
        if said.get("kind") == "done":
            part.done.add(subject)
        if (number, prev) == (1, "") and (head is None or subject in part.done):
            part.done.discard(subject)  # once forgotten, a review may be submitted again
        elif head is None:
            if part.start is None:
                raise self._broken(subject, f"it is entry {number}, and those before are missing")
        elif number > head[0] + 1:
            raise self._broken(
                subject, f"it is entry {number}, and behind {head[0]} some are missing"
            )
        elif number <= head[0]:
            raise self._broken(subject, _OUT_OF_PLACE)
        elif prev != head[1]:
            raise self._broken(subject, f"it doesn't follow entry {head[0]}")

    def _end_range(self, anchor: Anchor) -> None:
        part = self._partitions.get(place_of(anchor.last)[0])
        if part is None or not part.open:
            raise self._broken(
                "", f"of the {anchor.count} entries before this anchor none is there"
            )
        if anchor.prev != (part.last.root if part.last else ""):
            raise self._broken("", "this anchor doesn't follow the one before it")
        true = Anchor.over(part.open, anchor.prev)
        if true.count < anchor.count:
            raise self._broken(
                "", f"of the {anchor.count} entries before this anchor {true.count} are there"
            )
        if true != anchor:
            raise self._broken("", "this anchor doesn't match the entries before it")
        self._compare(anchor)
        part.last, part.open = anchor, []
        self.anchors += 1

    def _compare(self, anchor: Anchor) -> None:
        if self._known.pop(anchor.last, anchor.root) != anchor.root:
            raise self._broken("", f"the anchor {anchor.last} is not the one that was kept")

    def _read(self, said: object) -> Anchor:
        try:
            return Anchor.model_validate(said)
        except ValueError as error:
            raise self._broken("", "this anchor was changed") from error

    def _broken(self, subject: str, problem: str) -> Broken:
        return Broken(self.lines, subject, problem)


def _subject(said: JsonObject) -> str:
    """Whose chain it belongs to."""
    if review := said.get("review_id"):
        return f"review {review}"
    return f"agent {said.get('agent')}"


def _hash_of(said: JsonObject) -> str | None:
    """None for what is no entry at all."""
    if not isinstance(said.get("n"), int) or not isinstance(said.get("prev"), str):
        return None
    try:
        return hash_of(said)
    except ValueError:  # half a surrogate pair
        return None
