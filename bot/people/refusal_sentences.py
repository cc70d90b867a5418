"""What a person reads whose click was refused because of who they are. Pure."""

from __future__ import annotations

ONLY_MEMBERS = "Only people of this workspace may decide."
STILL_RECORDED = "This message is still being recorded. Press again in a moment."
LOOKUP_UNAVAILABLE = "Who may decide could not be looked up. Press again."


def may_not_decide(deciders: str) -> str:
    """`deciders`: the names of those who may."""
    return f"Only {deciders or 'nobody'} may decide this."


def unknown_deciders(problem: object) -> str:
    return (
        f"It is not known who may decide: {problem}. Nothing was changed. Press again, or tell the people who"
        " run the bot."
    )
