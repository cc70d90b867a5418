"""Who may decide on an action, and how many of them are needed."""

from __future__ import annotations

from hitl_core.model.value import Value


class Reviewers(Value):
    """If it names nobody, the members of the conversations that show the action may decide.

    `users` and `groups` are ids of the chat system ("U1", "S1"). `quorum` different people must approve the
    same revision; `reject_quorum` people must reject. `editor_approves`: an edit counts as its editor's
    approval.
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
        """Whether it names people, groups or "the members"."""
        return bool(self.users or self.groups or self.channel_members)

    @property
    def people_key(self) -> tuple[object, ...]:
        """A value to compare: two Reviewers with the same people have equal keys."""
        members = self.channel_members or not self.is_explicit
        return frozenset(self.users), frozenset(self.groups), members
