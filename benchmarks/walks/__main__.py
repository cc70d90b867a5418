"""Measures all trips and prints the table."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from benchmarks.walks import TRIPS, Fixture, Walk

#: At most this many files and moves.
AIMS = {
    "card → blocks": (18, 120),
    "Edit pressed → modal": (25, 150),
    "Edit sent → stored": (30, 250),
}


async def measure() -> dict[str, Walk]:
    fixture = Fixture()
    await fixture.start()
    for walk in TRIPS.values():
        await walk(fixture)
    return {name: await walk(fixture) for name, walk in TRIPS.items()}


def table(walks: Mapping[str, Walk]) -> str:
    """One line per trip, with its aim if it has one."""
    lines = [f"{'':2}{'trip':22}{'files':>7}{'moves':>7}{'repeated':>10}  aim (files, moves)"]
    for name, walk in walks.items():
        aim, mark = AIMS.get(name), " "
        if aim is not None:
            mark = "✓" if walk.files <= aim[0] and walk.moves <= aim[1] else "✗"
        row = f"{mark:2}{name:22}{walk.files:7}{walk.moves:7}{walk.repeated:10}"
        lines.append(f"{row}  ≤ {aim[0]}, ≤ {aim[1]}" if aim else row)
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(asyncio.run(measure())))
