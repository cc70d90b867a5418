"""A review that one person may see."""

from __future__ import annotations

from collections.abc import Iterable

from hitl_core.model import Grant, MessageRef, Place, Reviewer, Snapshot


class PermittedSnapshot(Snapshot):
    """A snapshot with the grants by which `who` may decide: one tuple for each check. It is for one click:
    later the permission is checked again.
    """

    who: Reviewer
    checked: tuple[tuple[Grant, ...], ...] = ()

    def permits(self, who: Reviewer, grants: Iterable[Grant]) -> bool:
        """Whether it was checked that this person may decide by one of these grants."""
        grants = tuple(grants)
        return who.key == self.who.key and any(
            bool(part) and all(grant in grants for grant in part) for part in self.checked
        )

    def with_check(self, grants: Iterable[Grant]) -> PermittedSnapshot:
        return self.model_copy(update={"checked": (*self.checked, tuple(grants))})


def place_of_message(snapshot: Snapshot, message_ref: MessageRef) -> Place | None:
    """The place whose card this message is."""
    for place, ref in snapshot.posts.items():
        if ref.key == message_ref.key:
            return place.base
    return None
