"""The people, groups and rooms of the text channel's tests."""

from __future__ import annotations

from .network import BOT, Group, Member, Network, Room

NOW = 1_800_000_000.0


def office(now: float = NOW) -> Network:
    return Network(
        now,
        people={
            "p-ada": Member("Ada Byron"),
            "p-bea": Member("Bea Sand"),
            "p-cy": Member("Cy Young"),
            "p-gus": Member("Gus Guest", "guest"),
            "p-lou": Member("Lou Left", left=True),
            "p-robot": Member("Robot", "bot"),
        },
        rooms={
            "r-orders": Room("orders", {BOT, "p-ada", "p-bea"}),
            "r-ops": Room("ops", {BOT, "p-cy"}),
            "r-old": Room("old", {BOT, "p-ada"}, closed=True),
            "r-secret": Room("secret", {"p-ada"}),
        },
        groups={"g-ops": Group("ops-team", {"p-cy"}), "g-empty": Group("empty", set())},
    )
