"""Writes bot/card/warnings/tables.txt from Unicode's own data files.

    python tools/make_unicode_tables.py FOLDER

FOLDER contains `Scripts.txt` (unicode.org/Public/17.0.0/ucd), `confusables.txt` and `IdentifierStatus.txt`
(unicode.org/Public/security/17.0.0, Unicode Technical Standard 39), all of one version. A table is small
(30 KB), needs no package in the bot, and has the same Unicode version with every Python.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

TABLES = Path(__file__).parents[1] / "bot/card/warnings/tables.txt"
FILES = ("Scripts.txt", "confusables.txt", "IdentifierStatus.txt")
_SMALL_CAPITAL = re.compile("LATIN LETTER SMALL CAPITAL ([A-Z])")


def main(folder: Path) -> None:
    scripts = dict(_properties(folder / "Scripts.txt"))
    allowed = {char for char, _ in _properties(folder / "IdentifierStatus.txt")}
    looks = dict(_look_alikes(folder / "confusables.txt", scripts))
    uncommon = [char for char in looks if scripts.get(char) == "Latin" and char not in allowed]
    lines = [
        f"# Made by {Path(__file__).parent.name}/{Path(__file__).name}; don't edit.",
        f"# {'; '.join(f'{name} {_version(folder / name)}' for name in FILES)}",
        "[scripts]",
        *(f"{first:X} {last:X} {script}" for first, last, script in _ranges(scripts)),
        "[looks like]",
        *(f"{target} {_codes(chars)}" for target, chars in sorted(_invert(looks).items())),
        "[uncommon Latin]",
        _codes(uncommon),
    ]
    TABLES.write_text("\n".join(lines) + "\n", encoding="ascii")


def _rows(file: Path) -> Iterator[list[str]]:
    for line in file.read_text(encoding="utf-8-sig").splitlines():
        if fields := line.partition("#")[0].strip():
            yield [field.strip() for field in fields.split(";")]


def _version(file: Path) -> str:
    match = re.search(r"(?:Version: |-)(\d+\.\d+\.\d+)", file.read_text(encoding="utf-8-sig"))
    assert match, f"{file} names no version"
    return match[1]


def _properties(file: Path) -> Iterator[tuple[str, str]]:
    for codes, value, *_ in _rows(file):
        first, _, last = codes.partition("..")
        for code in range(int(first, 16), int(last or first, 16) + 1):
            yield chr(code), value


def _look_alikes(file: Path, scripts: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Characters that look like ASCII letters and digits, or like one ASCII sign; and Latin small capitals.
    Characters that Unicode decomposes to ASCII are left out, because Python's `unicodedata` has them.
    """
    for char, script in scripts.items():
        name = unicodedata.name(char, "") if script == "Latin" else ""
        if capital := _SMALL_CAPITAL.fullmatch(name):
            yield char, capital[1].lower()
    for code, target, *_ in _rows(file):
        char = chr(int(code, 16))
        looks = "".join(chr(int(one, 16)) for one in target.split())
        is_plain = looks.isascii() and (looks.isalnum() or len(looks) == 1) and looks != " "
        if is_plain and not unicodedata.normalize("NFKC", char).isascii():
            yield char, looks


def _ranges(scripts: dict[str, str]) -> Iterator[tuple[int, int, str]]:
    """Ranges of code points of one script. They may contain unassigned code points."""
    codes = sorted(map(ord, scripts))
    ends = [at for at, (a, b) in enumerate(pairwise(codes)) if scripts[chr(a)] != scripts[chr(b)]]
    first = 0
    for last in (*ends, len(codes) - 1):
        yield codes[first], codes[last], scripts[chr(codes[first])]
        first = last + 1


def _invert(looks: dict[str, str]) -> dict[str, list[str]]:
    by_target: defaultdict[str, list[str]] = defaultdict(list)
    for char, target in looks.items():
        by_target[target].append(char)
    return by_target


def _codes(chars: list[str]) -> str:
    return " ".join(f"{code:X}" for code in sorted(map(ord, chars)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
