"""Tables in the docs that are made from the code: `python -m tests.docs.tables` writes them.

Each is between `<!-- table: settings -->` and `<!-- end -->`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields

from bot.settings import Settings, describe_settings, required_settings
from bot.web.problems import PROBLEM_TYPES
from tests.docs.faults import rows as fault_rows
from tests.docs.pages import ROOT
from tests.docs.threats import rows as threat_rows

Rows = Iterator[tuple[str, ...]]

_TABLE = re.compile(r"(<!-- table: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def _settings() -> Rows:
    yield "setting", "default", "what it is"
    text = describe_settings()
    systems = {"Slack": "slack_bot_token", "Teams": "teams_client_id"}
    needs = {
        name: f"**needed for {system}**"
        for system, first in systems.items()
        for name in required_settings({first})
    } | {field.name: "**needed**" for field in fields(Settings) if field.default is MISSING}
    for field in fields(Settings):
        default = needs.get(field.name, f"`{field.default}`")
        yield f"`{field.name.upper()}`", default.replace("``", ""), text[field.name]


def _problems() -> Rows:
    yield "code", "status", "means"
    for code, kind in PROBLEM_TYPES.items():
        yield f"`{code}`", str(kind.status), kind.title


TABLES: dict[str, Callable[[], Rows]] = {
    "settings": _settings,
    "problems": _problems,
    "threats": threat_rows,
    "faults": fault_rows,
}


def renew(text: str) -> str:
    """A page's text with its tables as the code has them now."""

    def table(found: re.Match[str]) -> str:
        head, *rows = TABLES[found[2]]()
        lines = [head, ("---",) * len(head), *rows]
        made = "".join(f"| {' | '.join(cells)} |\n" for cells in lines).replace("<", "&lt;")
        return f"{found[1]}\n{made}\n{found[4]}"

    return _TABLE.sub(table, text)


if __name__ == "__main__":
    for path in sorted((ROOT / "docs").glob("*.md")):
        path.write_text(renew(path.read_text("utf-8")), "utf-8")
