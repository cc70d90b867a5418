"""`hitl audit verify`: the audit is complete, or the command names the line that is wrong."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import pytest
import redis

from hitl_core.audit import Anchor, Entry, link_entry
from hitl_core.audit import export as export_module
from hitl_core.audit.sealer import seal, trim
from hitl_core.cli.audit.verify import _verify_stored
from hitl_core.errors import StoreUnavailable
from hitl_core.model import Event
from hitl_core.review.service import Reviews
from hitl_core.store.redis.keys import Keys
from hitl_core.store.redis.packing import unpack
from tests.cli.desk import Desk
from tests.support.builders import approve_all, person


@pytest.fixture
def export(desk: Desk, tmp_path: Path) -> Path:
    """Two reviews, one decided: entries on lines 1 to 3, their anchor on 4."""
    first = desk.submit()
    desk.submit()
    desk.do(lambda reviews: approve_all(reviews, first.id, person()))
    file = tmp_path / "audit.jsonl"
    assert desk.hitl("audit", "export", "--out", str(file)).code == 0
    return file


def anchor_in(file: Path) -> str:
    anchor = json.loads(file.read_text().splitlines()[-1])
    return f"{anchor['to']}:{anchor['root']}"


def test_what_nobody_touched_is_whole(desk: Desk, export: Path) -> None:
    """From a file, from a pipe, in Redis; the last anchor is said, to be kept."""
    texts = "ok: entries 3, reviews 2, anchors 1, from the beginning\n"
    ways = [
        desk.hitl("audit", "verify", str(export)),
        desk.run_piped("audit", "verify", "-", stdin=export.read_text()),
        desk.hitl("audit", "verify"),
        desk.hitl("audit", "verify", str(export), "--anchor", anchor_in(export)),
        desk.hitl("audit", "verify", str(export), "--anchor", str(export)),
    ]
    said = f"The last anchor of each partition, for --anchor:\n{anchor_in(export)}\n"
    assert ways == [(0, texts, said)] * 5


def test_four_manipulations_are_found(desk: Desk, export: Path) -> None:
    """T49: Changed, deleted, reordered, cut off: exit 1, and the line with its review."""
    lines = export.read_text().splitlines(keepends=True)
    review = json.loads(lines[2])["review_id"]
    other = json.loads(lines[1])["review_id"]
    changed = [*lines[:2], lines[2].replace('"approve"', '"reject"'), *lines[3:]]
    for broken, shown in [
        (changed, f"line 3: review {review}: it was changed: its hash doesn't match.\n"),
        ([*lines[:1], *lines[2:]], "line 3: this anchor is over 3 entries, and only 2 are here.\n"),
        (
            lines[1:],
            f"line 2: review {review}: it is entry 2, and the entries before it are missing.\n",
        ),
        ([lines[0], lines[2], lines[1], lines[3]], f"line 3: review {other}: it is out of"),
        (lines[:3], "line 3: it was cut off here, before the anchor of 0:"),
    ]:
        export.write_text("".join(broken))
        ran = desk.hitl("audit", "verify", str(export))
        assert (ran.code, ran.err) == (1, "")
        assert ran.out.startswith(shown)


def test_an_anchor_that_was_kept_shows_a_missing_end(desk: Desk, export: Path) -> None:
    """Given a later export of which only the beginning is left, which is whole by itself."""
    short = export.read_text()
    desk.submit()
    later = export.with_name("later.jsonl")
    assert desk.hitl("audit", "export", "--out", str(later)).code == 0
    kept = anchor_in(later)
    later.write_text(short)

    assert desk.hitl("audit", "verify", str(later)).code == 0
    ran = desk.hitl("audit", "verify", str(later), "--anchor", kept)

    assert (ran.code, ran.err) == (1, "")
    assert ran.out.startswith("line 4: it was cut off here, before the anchor 0:")


def test_each_nights_file_follows_the_last(desk: Desk, export: Path) -> None:
    review = desk.submit()
    new = export.with_name("new.jsonl")
    assert desk.hitl("audit", "export", "--new", "--out", str(new)).code == 0

    ran = desk.hitl("audit", "verify", str(new), "--anchor", str(export))

    assert ran.code == 0
    assert "entries 1, reviews 1, anchors 1, from after an anchor" in ran.out
    text = new.read_text().replace(review.id, f"0-{'a' * 32}")
    new.write_text(text)
    assert desk.hitl("audit", "verify", str(new)).code == 1


def test_redis_itself_is_held_to_what_was_exported(
    desk: Desk, export: Path, redis_url: str
) -> None:
    """Given somebody who deletes from Redis; then its entries, or their anchors, are missed."""
    client: Any = redis.Redis.from_url(redis_url)
    with client:
        keys = Keys(0)
        kept = client.dump(keys.audit), client.dump(keys.anchors)
        client.delete(keys.audit, keys.anchors)
        gone = desk.hitl("audit", "verify")
        client.restore(keys.audit, 0, kept[0])
        unsealed = desk.hitl("audit", "verify")
        client.restore(keys.anchors, 0, kept[1])
        entries = client.xrange(keys.audit)
        client.xdel(keys.audit, entries[1][0])
        deleted = desk.hitl("audit", "verify")
    assert (gone.code, unsealed.code, deleted.code) == (1, 1, 1)
    assert "before the anchor 0:" in gone.out
    assert "this anchor is over 3 entries, and only 2 are here" in deleted.out


def test_a_wrong_command_is_one_sentence(desk: Desk, export: Path, tmp_path: Path) -> None:
    """No file, no anchor in it, or nothing at all."""
    empty = tmp_path / "empty"
    empty.write_text("")
    for argv, code in (
        (["no-such-file"], 2),
        ([str(export), "--anchor", "no-such-file"], 2),
        ([str(export), "--anchor", str(empty)], 2),
        ([str(empty)], 1),
    ):
        ran = desk.hitl("audit", "verify", *argv)
        assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1), argv


class Meanwhile:
    """The ledger, and what a bot does right behind a reading of it, once."""

    def __init__(self, ledger: Any, after: str, does: Callable[[], Awaitable[Any]]) -> None:
        self._ledger, self._after, self._does = ledger, after, does

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._ledger, name)
        if name != self._after:
            return found

        async def then(*args: Any) -> Any:
            answer, self._after = await found(*args), ""
            await self._does()
            return answer

        return then


@pytest.mark.parametrize("after", ["last_anchor", "anchors", "entries", "exported"])
@pytest.mark.parametrize("does", ["seal", "trim"])
def test_what_a_bot_seals_or_trims_meanwhile_is_no_alarm(
    desk: Desk, export: Path, after: str, does: str
) -> None:
    """Given entries behind the last anchor, when a bot seals them, or forgets the
    exported ones, between any two readings, then all is whole."""
    for _ in range(3):
        desk.submit()

    async def verify(reviews: Reviews) -> int:
        store: Any = reviews.store
        ledger = store.ledger
        ledger.retention = -3600

        async def work() -> None:
            store.ledger = ledger
            await (seal(store) if does == "seal" else trim(store, 0))
            store.ledger = meanwhile

        store.ledger = meanwhile = Meanwhile(ledger, after, work)
        return (await _verify_stored(reviews, [])).entries

    assert desk.do(verify) >= 3


def test_nothing_is_whole(desk: Desk) -> None:
    assert desk.hitl("audit", "verify") == (0, "", "The audit has no entries.\n")


class Slow:
    """The ledger of a loaded Redis: of its pages, these are too late."""

    def __init__(self, ledger: Any, late: Callable[[int], bool]) -> None:
        self._ledger, self._late, self.pages = ledger, late, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    async def entries(self, partition: int, after: str = "", limit: int = 1000) -> list[Entry]:
        assert limit <= export_module.PAGE_SIZE
        self.pages += 1
        if self._late(self.pages):
            raise StoreUnavailable("Redis can't be reached: it did not answer in time.")
        return await self._ledger.entries(partition, after, limit)


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_module, "PAGE_SIZE", 2)
    monkeypatch.setattr(export_module, "PAUSES", (0.0, 0.0, 0.0))


def test_a_page_that_is_too_late_is_read_again(desk: Desk, export: Path, small_pages: None) -> None:
    """Given a loaded Redis that answers only each third page in time; then all is read, and no page is larger
    than the limit, however many entries an anchor is over."""

    async def verify(reviews: Reviews) -> int:
        store: Any = reviews.store
        whole = (await _verify_stored(reviews, [])).entries
        slow = Slow(store.ledger, lambda page: page > 1 and page % 3 != 1)
        store.ledger = slow
        assert (await _verify_stored(reviews, [])).entries == whole
        assert slow.pages > whole
        return whole

    assert desk.do(verify) >= 3


def test_a_redis_that_stays_away_is_a_sentence(desk: Desk, export: Path, small_pages: None) -> None:
    """Not an alarm: it says how far it came."""

    async def verify(reviews: Reviews) -> None:
        store: Any = reviews.store
        store.ledger = Slow(store.ledger, lambda page: page > 3)
        with pytest.raises(StoreUnavailable, match="The first 2 entries are ok, and the others"):
            await _verify_stored(reviews, [])

    desk.do(verify)


@pytest.mark.parametrize("damage", [b"x", b"[]", b"", b'{"from":"0:1-1","to":"9999999:1-1"}'])
@pytest.mark.parametrize("where", ["an anchor", "the last export"])
def test_an_anchor_that_can_not_be_read_is_a_broken_audit(
    desk: Desk, export: Path, redis_url: str, where: str, damage: bytes
) -> None:
    """One sentence: exit 1 for `verify`, which looks for this, and 3 for the others."""
    with redis.Redis.from_url(redis_url) as client:
        if where == "an anchor":
            client.xadd(Keys(0).anchors, {"anchor": damage})
        else:
            client.set(Keys(0).last_export, damage or b" ")
    wrong = "An anchor of the audit in Redis (partition 0) can't be read"

    verified = desk.hitl("audit", "verify")
    exported = desk.hitl("audit", "export", "--new")

    assert (verified.code, verified.out[: len(wrong)], verified.err) == (1, wrong, "")
    assert (exported.code, exported.out, exported.err.count("\n")) == (3, "", 1)
    assert wrong in exported.err


def rewrite_history(redis_url: str) -> None:
    """What a person who can write to Redis could do: another decision, with hashes and anchors that fit."""
    with redis.Redis.from_url(redis_url) as client:
        keys = Keys(0)
        stored = cast(Any, client.xrange(keys.audit))
        client.delete(keys.audit, keys.anchors)
        heads: dict[str, str] = {}
        pairs: list[tuple[str, str]] = []
        for id, fields in stored:
            event = json.loads(unpack(fields[b"event"]))
            if event["kind"] == "decided":
                event["what"] = "reject"
            for link in ("n", "prev", "hash"):
                del event[link]
            about = event["review_id"]
            line, heads[about] = link_entry(Event.model_validate(event), heads.get(about, ""))
            client.xadd(keys.audit, {"event": line}, id=id)
            pairs.append((f"0:{id.decode()}", heads[about].partition(":")[2]))
        anchor = Anchor.from_entries(pairs, "")
        client.xadd(
            keys.anchors, {"root": anchor.root, "anchor": anchor.to_line()}, id=stored[-1][0]
        )
        client.set(keys.last_export, anchor.to_line())


def test_a_kept_anchor_counts_more_than_the_one_in_redis(
    desk: Desk, export: Path, redis_url: str
) -> None:
    """Given a history that was rewritten as a whole, with the last exported anchor; then Redis alone looks
    whole, and the anchor that was kept elsewhere shows it.
    """
    kept = anchor_in(export)
    rewrite_history(redis_url)

    assert desk.hitl("audit", "verify").code == 0
    for given in (kept, str(export)):
        ran = desk.hitl("audit", "verify", "--anchor", given)
        assert (ran.code, "is not the one that was kept" in ran.out) == (1, True)


def test_each_of_several_kept_anchors_counts(desk: Desk, export: Path) -> None:
    """Given two anchors of the same entry that differ; then one of them is not the file's."""
    kept = anchor_in(export)
    other = f"{kept.rpartition(':')[0]}:{'0' * 64}"
    for given in ([kept, other], [other, kept]):
        anchors = [word for each in given for word in ("--anchor", each)]
        for where in ([str(export)], []):
            ran = desk.hitl("audit", "verify", *where, *anchors)
            assert (ran.code, "is not the one that was kept" in ran.out) == (1, True)
