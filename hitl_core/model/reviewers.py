"""Who may decide on an action, and how many of them it takes."""

from __future__ import annotations

from hitl_core.model.value import Value


class Reviewers(Value):
    """Frozen into the route. Where it names nobody, the members of the conversations in which the action
    stands may decide.

    `users` and `groups` are a channel's own ids ("U1", "S1"). `quorum` different people must approve one and
    the same revision, `reject_quorum` must reject. `editor_approves`: an edit is its editor's approval, too.
    """

    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    channel_members: bool = False
    quorum: int = 1
    reject_quorum: int = 1
    exclude_requester: bool = False
    editor_approves: bool = True

    @property
    def is_explicit(self) -> bool:
        """Whether it says by itself who may decide."""
        return bool(self.users or self.groups or self.channel_members)

    @property
    def people_key(self) -> tuple[object, ...]:
        """Who they are, to be compared with others."""
        members = self.channel_members or not self.is_explicit
        return frozenset(self.users), frozenset(self.groups), members
