"""Whether an export is whole: every entry as it was written, none missing, none moved. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from hitl_core.audit.anchor import Anchor, parse_position
from hitl_core.audit.canonical import JsonObject, hash_of
from hitl_core.errors import HitlError, InvalidToolCall
from hitl_core.model import decode

_OUT_OF_PLACE = "it stands out of order, or twice"


class BrokenChain(HitlError):
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
        self.position = parse_position(start.last) if start else (0, -1, -1)
        self.heads: dict[str, tuple[int, str]] = {}
        self.done_subjects: set[str] = set()
        self.unanchored: list[tuple[str, str]] = []


class Verifier:
    """Takes an export line by line. Each method raises Broken for the first thing that is wrong."""

    def __init__(self, known: Iterable[tuple[str, str]] = ()) -> None:
        """`known` are anchors of which a copy was kept elsewhere: their last entry's id, and their root."""
        self._known = dict(known)
        self._partitions: dict[int, _Partition] = {}
        self.lines = self.entries = self.anchors = 0

    @property
    def last_anchors(self) -> list[Anchor]:
        """The last anchor of each partition."""
        return [part.last for _, part in sorted(self._partitions.items()) if part.last]

    @property
    def subjects(self) -> int:
        """How many reviews, and agents whose policy changed, it tells of."""
        return sum(len(part.heads) for part in self._partitions.values())

    @property
    def is_complete(self) -> bool:
        """Whether it begins at the beginning."""
        return all(part.start is None for part in self._partitions.values())

    def expect_anchor(self, anchor: Anchor) -> None:
        """It must hold this one, or begin behind it."""
        self._known[anchor.last] = anchor.root

    def add_line(self, line: str | bytes) -> None:
        self.lines += 1
        try:
            data = decode(line)
        except InvalidToolCall as error:
            raise self._make_error("", "it is no JSON object, or names something twice") from error
        if "root" in data:
            self._end_range(self._parse_anchor(data))
        elif "follows" in data:
            self._begin(data)
        else:
            self._add_entry(data)

    def finish(self, *, expect_anchors: bool = True) -> None:
        """Nothing comes any more. `sealed`: all of it should have its anchor by now."""
        for part in self._partitions.values():
            if expect_anchors and part.unanchored:
                raise self._make_error(
                    "", f"it was cut off here, before the anchor of {part.unanchored[-1][0]}"
                )
        for anchor in self._known:
            raise self._make_error("", f"it was cut off here, before the anchor {anchor}")

    def _begin(self, data: JsonObject) -> None:
        before = self._parse_anchor(data.pop("follows"))
        number = parse_position(before.last)[0]
        if data or number in self._partitions:
            raise self._make_error("", _OUT_OF_PLACE)
        self._partitions[number] = _Partition(before)
        self._compare(before)

    def _add_entry(self, entry: JsonObject) -> None:
        id, digest = entry.pop("id", None), entry.pop("hash", None)
        subject = _subject(entry)
        if digest != _hash_of(entry):
            raise self._make_error(subject, "it was changed: its hash is another one")
        part = self._find_partition(str(id), subject)
        self._link(part, subject, entry, digest)
        part.unanchored.append((str(id), digest))
        self.entries += 1

    def _find_partition(self, id: str, subject: str) -> _Partition:
        """Ids only rise."""
        try:
            place = parse_position(id)
        except ValueError as error:
            raise self._make_error(subject, "its id was changed") from error
        part = self._partitions.setdefault(place[0], _Partition())
        if place[1:] <= part.position[1:]:
            raise self._make_error(subject, _OUT_OF_PLACE)
        part.position = place
        return part

    def _link(self, part: _Partition, subject: str, entry: JsonObject, digest: str) -> None:
        """Each entry of a subject follows the one before it."""
        number, prev, head = entry["n"], entry["prev"], part.heads.get(subject)
        part.heads[subject] = number, digest
        if entry.get("kind") == "done":
            part.done_subjects.add(subject)
        if (number, prev) == (1, "") and (head is None or subject in part.done_subjects):
            part.done_subjects.discard(subject)  # once forgotten, a review may be submitted again
        elif head is None:
            if part.start is None:
                raise self._make_error(
                    subject, f"it is entry {number}, and those before are missing"
                )
        elif number > head[0] + 1:
            raise self._make_error(
                subject, f"it is entry {number}, and behind {head[0]} some are missing"
            )
        elif number <= head[0]:
            raise self._make_error(subject, _OUT_OF_PLACE)
        elif prev != head[1]:
            raise self._make_error(subject, f"it doesn't follow entry {head[0]}")

    def _end_range(self, anchor: Anchor) -> None:
        part = self._partitions.get(parse_position(anchor.last)[0])
        if part is None or not part.unanchored:
            raise self._make_error(
                "", f"of the {anchor.count} entries before this anchor none is there"
            )
        if anchor.prev != (part.last.root if part.last else ""):
            raise self._make_error("", "this anchor doesn't follow the one before it")
        true = Anchor.from_entries(part.unanchored, anchor.prev)
        if true.count < anchor.count:
            raise self._make_error(
                "", f"of the {anchor.count} entries before this anchor {true.count} are there"
            )
        if true != anchor:
            raise self._make_error("", "this anchor doesn't match the entries before it")
        self._compare(anchor)
        part.last, part.unanchored = anchor, []
        self.anchors += 1

    def _compare(self, anchor: Anchor) -> None:
        if self._known.pop(anchor.last, anchor.root) != anchor.root:
            raise self._make_error("", f"the anchor {anchor.last} is not the one that was kept")

    def _parse_anchor(self, data: object) -> Anchor:
        try:
            return Anchor.model_validate(data)
        except ValueError as error:
            raise self._make_error("", "this anchor was changed") from error

    def _make_error(self, subject: str, problem: str) -> BrokenChain:
        return BrokenChain(self.lines, subject, problem)


def _subject(entry: JsonObject) -> str:
    """Whose chain it belongs to."""
    if review := entry.get("review_id"):
        return f"review {review}"
    return f"agent {entry.get('agent')}"


def _hash_of(entry: JsonObject) -> str | None:
    """None for what is no entry at all."""
    if not isinstance(entry.get("n"), int) or not isinstance(entry.get("prev"), str):
        return None
    try:
        return hash_of(entry)
    except ValueError:  # half a surrogate pair
        return None
