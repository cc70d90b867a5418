"""Verify an export: every entry is unchanged, none is missing, none was moved. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from hitl_core.audit.entry import Anchor, hash_of, parse_position
from hitl_core.errors import HitlError, InvalidToolCall
from hitl_core.model import JsonObject, decode

_OUT_OF_PLACE = "it is out of order, or there twice"


class BrokenChain(HitlError):
    """The first error in an export. `line` counts from 1; `subject` is the review or agent of the entry."""

    def __init__(self, line: int, subject: str, problem: str) -> None:
        super().__init__(f"line {line}: {f'{subject}: ' if subject else ''}{problem}.")
        self.line, self.subject, self.problem = line, subject, problem


class _Partition:
    """What has been read of one partition. `start` is the anchor before its first line, or None at the
    beginning; `unanchored` are the ids and hashes after the last anchor.
    """

    def __init__(self, start: Anchor | None = None) -> None:
        self.start = self.last = start
        self.position = parse_position(start.last) if start else (0, -1, -1)
        self.heads: dict[str, tuple[int, str]] = {}
        #: The reviews that may be deleted, and so submitted again.
        self.done_subjects: set[str] = set()
        self.unanchored: list[tuple[str, str]] = []


class Verifier:
    """Checks an export line by line. Each method raises BrokenChain for the first error."""

    def __init__(self, known: Iterable[tuple[str, str]] = ()) -> None:
        """`known` are anchors that were also kept elsewhere: the id of the last entry, and the root."""
        #: By the id of the last entry. Each root counts: the one in Redis may be of a person who changed it.
        self._known: dict[str, set[str]] = {}
        for last, root in known:
            self._known.setdefault(last, set()).add(root)
        self._partitions: dict[int, _Partition] = {}
        self.lines = self.entries = self.anchors = 0

    @property
    def last_anchors(self) -> list[Anchor]:
        """The last anchor of each partition."""
        return [part.last for _, part in sorted(self._partitions.items()) if part.last]

    @property
    def subjects(self) -> int:
        """The number of reviews in the export, and of agents whose policy changed."""
        return sum(len(part.heads) for part in self._partitions.values())

    @property
    def is_complete(self) -> bool:
        """Whether the export starts at the beginning of the audit."""
        return all(part.start is None for part in self._partitions.values())

    def expect_anchor(self, anchor: Anchor) -> None:
        """The export must contain this anchor, or start after it."""
        self._known.setdefault(anchor.last, set()).add(anchor.root)

    def add_line(self, line: str | bytes) -> None:
        self.lines += 1
        try:
            data = decode(line)
        except InvalidToolCall as error:
            raise self._make_error("", "it is not a JSON object, or has a key twice") from error
        if "root" in data:
            self._end_range(self._parse_anchor(data))
        elif "follows" in data:
            self._begin(data)
        else:
            self._add_entry(data)

    def finish(self, *, expect_anchors: bool = True) -> None:
        """Call it after the last line. `expect_anchors`: an anchor must follow the last entry."""
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
        id, entry_hash = entry.pop("id", None), entry.pop("hash", None)
        subject = _subject(entry)
        if entry_hash != _hash_of(entry):
            raise self._make_error(subject, "it was changed: its hash doesn't match")
        part = self._find_partition(str(id), subject)
        self._link(part, subject, entry, entry_hash)
        part.unanchored.append((str(id), entry_hash))
        self.entries += 1

    def _find_partition(self, id: str, subject: str) -> _Partition:
        """Raises when the id is not greater than the last one of its partition."""
        try:
            position = parse_position(id)
        except ValueError as error:
            raise self._make_error(subject, "its id was changed") from error
        part = self._partitions.setdefault(position[0], _Partition())
        if position[1:] <= part.position[1:]:
            raise self._make_error(subject, _OUT_OF_PLACE)
        part.position = position
        return part

    def _link(self, part: _Partition, subject: str, entry: JsonObject, entry_hash: str) -> None:
        """Check that the entry follows the last one of its subject."""
        number, prev, head = entry["n"], entry["prev"], part.heads.get(subject)
        part.heads[subject] = number, entry_hash
        if entry.get("kind") in ("done", "cancelled"):  # over HTTP a cancelled review is done
            part.done_subjects.add(subject)
        if (number, prev) == (1, "") and (head is None or subject in part.done_subjects):
            part.done_subjects.discard(subject)
        elif head is None:
            if part.start is None:
                raise self._make_error(
                    subject, f"it is entry {number}, and the entries before it are missing"
                )
        elif number > head[0] + 1:
            raise self._make_error(
                subject, f"it is entry {number}, and entries after {head[0]} are missing"
            )
        elif number <= head[0]:
            raise self._make_error(subject, _OUT_OF_PLACE)
        elif prev != head[1]:
            raise self._make_error(subject, f"it doesn't follow entry {head[0]}")

    def _end_range(self, anchor: Anchor) -> None:
        part = self._partitions.get(parse_position(anchor.last)[0])
        if part is None or not part.unanchored:
            raise self._make_error(
                "", f"this anchor is over {anchor.count} entries, and none of them is here"
            )
        if anchor.prev != (part.last.root if part.last else ""):
            raise self._make_error("", "this anchor doesn't follow the one before it")
        actual = Anchor.from_entries(part.unanchored, anchor.prev)
        if actual.count < anchor.count:
            raise self._make_error(
                "", f"this anchor is over {anchor.count} entries, and only {actual.count} are here"
            )
        if actual != anchor:
            raise self._make_error("", "this anchor doesn't match the entries before it")
        self._compare(anchor)
        part.last, part.unanchored = anchor, []
        self.anchors += 1

    def _compare(self, anchor: Anchor) -> None:
        if self._known.pop(anchor.last, {anchor.root}) != {anchor.root}:
            raise self._make_error("", f"the anchor {anchor.last} is not the one that was kept")

    def _parse_anchor(self, data: object) -> Anchor:
        try:
            return Anchor.model_validate(data)
        except ValueError as error:
            raise self._make_error("", "this anchor was changed") from error

    def _make_error(self, subject: str, problem: str) -> BrokenChain:
        return BrokenChain(self.lines, subject, problem)


def _subject(entry: JsonObject) -> str:
    """The review or agent to whose chain it belongs."""
    if review := entry.get("review_id"):
        return f"review {review}"
    return f"agent {entry.get('agent')}"


def _hash_of(entry: JsonObject) -> str | None:
    """The entry's computed hash; None for a JSON object that is not an entry."""
    if not isinstance(entry.get("n"), int) or not isinstance(entry.get("prev"), str):
        return None
    try:
        return hash_of(entry)
    except ValueError:  # half a surrogate pair
        return None
