"""Letters that look like others: look-alikes in a word, whole words, and styled forms. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from ..model import Line, Strong
from .finding import Alphabet, Finding, is_not, name_scripts, part_of, sentence
from .unicode_data import (
    is_letter,
    latin_like_scripts,
    looks_like,
    read_generously,
    read_word,
    script_of,
    tables,
)

_WORD = re.compile(r"(?:[^\W_]|[\u0300-\u036f])+")
#: Next to one of these, a word is a part of an address, an id or a path.
_ID_SIGNS = frozenset("@/\\_#")
#: The fewest letters of a word that can look like a Latin word: if it is alone, with digits or next to Latin
#: words; and in a text that clearly uses its script.
_MIN_ALONE, _MIN_BESIDE, _MIN_IN_SCRIPT, _MIN_ID = 3, 2, 4, 3
#: The fewest characters of a word with a symbol in it, because formulas have shorter ones.
_MIN_FAKED = 4
_ASCII_LETTER = re.compile("[A-Za-z]")
#: A raised or circled digit before other digits is no exponent and no footnote.
_DIGIT_AFTER = re.compile(r"[.,]?[0-9]")
#: Forms that Unicode decomposes to plain letters, and the fewest in a row that are not just a symbol (`①`,
#: `m²`).
_FORMS = {
    **{"<wide>": 1, "<narrow>": 1, "<small>": 1, "<font>": 2, "<circle>": 3},
    **{"<square>": 3, "<super>": 3, "<sub>": 3, "<compat>": 3},
}


class Word(NamedTuple):
    """`mixed`: scripts of which one looks like the other; `at_edge`: only at one end of the word. `reading`:
    what the whole word looks like.
    """

    mixed: frozenset[str] = frozenset()
    at_edge: bool = False
    reading: str = ""
    script: str = ""
    letters: int = 0


def find_look_alike(alphabet: Alphabet) -> Finding | None:
    """A word that mixes scripts, or that has no Latin letter but looks like a Latin word."""
    whole = alphabet.text
    if not any(map(_is_candidate, alphabet.chars)):
        return None
    is_latin = re.search("[A-Za-z0-9]", whole) is not None
    known: set[str] = set()
    for match in _WORD.finditer(whole):
        if match[0].isascii():
            continue
        word = _read(match[0])
        if word.mixed and not (word.at_edge and word.mixed & alphabet.distinct_scripts):
            return Finding("look_alike", _mix_words(whole, match[0], word.mixed))
        if word.reading and match[0] not in known:
            known.add(match[0])
            if _misleads(word, match, alphabet, is_latin):
                rare = "rare " if word.script == "Latin" else ""
                says = f": it has {rare}{name_scripts([word.script])} letters"
                return Finding("look_alike", sentence(*is_not(whole, match[0], word.reading), says))
    return None


def _is_candidate(char: str) -> bool:
    return bool(
        looks_like(char) or script_of(char) in latin_like_scripts() or char in tables().uncommon
    )


def _mix_words(whole: str, word: str, scripts: frozenset[str]) -> Line:
    says = f"it mixes {name_scripts(scripts)} letters"
    if (reading := read_generously(word)).isascii():
        return sentence(*is_not(whole, word, reading), f": {says}")
    ends = f": {says}, so a letter may not be what it looks like"
    return sentence("contains the word ", part_of(word), ends)


def _misleads(word: Word, match: re.Match[str], alphabet: Alphabet, is_latin: bool) -> bool:
    """Whether a reader would take the word for a Latin one. In a text with other letters of its script a
    reader knows better, but not in an id.
    """
    if word.script == "Latin":
        return True
    whole, has_digits = match.string, any(char.isdigit() for char in match[0])
    beside = {whole[match.start() - 1 : match.start()], whole[match.end() : match.end() + 1]}
    if word.script in alphabet.distinct_scripts:
        in_id = bool(_ID_SIGNS & beside) and word.letters >= _MIN_ID
        return in_id or (has_digits and word.letters >= _MIN_IN_SCRIPT)
    return word.letters >= (_MIN_BESIDE if has_digits or is_latin else _MIN_ALONE)


@lru_cache(8192)
def _read(word: str) -> Word:
    letters = [char for char in word if is_letter(char) and script_of(char)]
    runs = [(script, "".join(run)) for script, run in groupby(letters, script_of)]
    scripts = frozenset(script for script, _ in runs)
    if len(scripts) > 1:
        if _is_mixed(runs, scripts, len(letters)):
            return Word(scripts)
        return Word(scripts, at_edge=True) if _has_edge(runs) else Word()
    script = next(iter(scripts), "")
    reading = ""
    if script in latin_like_scripts():
        reading = read_word(word)
    elif len(word) > 1 and not tables().uncommon.isdisjoint(word):
        reading = read_generously(word)
    return Word(reading=reading, script=script, letters=len(letters))


def _is_mixed(runs: list[tuple[str, str]], scripts: frozenset[str], letters: int) -> bool:
    """Whether letters of one script can be taken for those of another."""
    alike = scripts & latin_like_scripts()
    if "Latin" not in scripts:
        return len(alike) > 1
    for at, (script, run) in enumerate(runs):
        read = all(looks_like(char).isalnum() for char in run)
        within = 0 < at < len(runs) - 1 and runs[at - 1][0] == runs[at + 1][0] == "Latin"
        if script == "Greek":  # formulas mix it with Latin: Δt, kΩ, 2πr
            if letters > 2 and any(looks_like(char).isalnum() for char in run):
                return True
        elif script in alike or (script != "Latin" and read and within):
            return True
    return False


def _has_edge(runs: list[tuple[str, str]]) -> bool:
    """Whether a Latin word has one letter of another script at an end, which reads as a Latin one."""
    scripts = {script for script, _ in runs}
    if len(runs) != 2 or "Latin" not in scripts or "Greek" in scripts:
        return False
    (_, first), (_, last) = runs
    latin, other = (first, last) if runs[0][0] == "Latin" else (last, first)
    return len(latin) > 2 and len(other) == 1 and looks_like(other).isalnum()


def find_fake_letter(alphabet: Alphabet) -> Finding | None:
    """A symbol, a mark or a mathematical letter in a word, or any letter in a number, that looks like a
    letter or digit of it.
    """
    for word in _words_with_fakes(alphabet):
        char = next(one for one in word if not one.isascii())
        name = unicodedata.name(char, f"U+{ord(char):04X}").lower()
        says = ("has “", part_of(char), f"” ({name}) in ", part_of(word), ", which is ")
        return Finding("look_alike", sentence(*says, Strong("not"), f" “{looks_like(char)}”"))
    return None


def _words_with_fakes(alphabet: Alphabet) -> Iterator[str]:
    if fakes := re.escape("".join(filter(_is_fake, alphabet.chars))):
        words = rf"[A-Za-z0-9]*[{fakes}]+(?:[A-Za-z0-9]+[{fakes}]*)*"
        for match in re.finditer(words, alphabet.text):
            if len(match[0]) >= _MIN_FAKED or len(_ASCII_LETTER.findall(match[0])) > 1:
                yield match[0]
    if digits := re.escape("".join(filter(_is_digit_like, alphabet.chars))):
        for match in re.finditer(rf"[0-9][.,]?[{digits}]+(?=[.,]?[0-9])", alphabet.text):
            yield match[0]


@lru_cache(8192)
def _is_fake(char: str) -> bool:
    kind, looks = unicodedata.category(char), looks_like(char)
    if len(looks) != 1 or not looks.isalnum():
        return False
    is_symbol = kind == "Nl" or (kind in ("So", "Sk", "Mc") and not _form_of(char))
    return is_symbol or (kind[0] == "L" and not script_of(char) and not _form_of(char))


@lru_cache(8192)
def _is_digit_like(char: str) -> bool:
    return is_letter(char) and looks_like(char).isdigit()


def find_styled(alphabet: Alphabet) -> Finding | None:
    """Full-width, mathematical and other forms of plain letters and digits."""
    styled = {char: form for char in alphabet.chars if (form := _form_of(char))}
    if not styled:
        return None
    whole = alphabet.text
    pattern = re.compile(f"(?<![A-Za-z0-9])[A-Za-z0-9]*(?:[{''.join(styled)}]+[A-Za-z0-9]*)+")
    for match in pattern.finditer(whole):
        odd = [char for char in match[0] if char in styled]
        if _is_usual(match[0], odd, styled, alphabet) and not _is_in_number(match, styled):
            continue
        plain = unicodedata.normalize("NFKC", match[0])
        form = {"<wide>": "full-width", "<font>": "mathematical"}.get(styled[odd[0]], "special")
        says = f": it has {form} forms of letters or digits"
        return Finding("styled", sentence(*is_not(whole, match[0], plain), says))
    return None


def _is_in_number(match: re.Match[str], styled: dict[str, str]) -> bool:
    """Whether one of these digits has digits before and after it."""
    whole = match.string
    return any(
        char in styled
        and at > 0
        and whole[at - 1] in ".,0123456789"
        and _DIGIT_AFTER.match(whole, at + 1) is not None
        and unicodedata.category(char) == "No"
        for at, char in enumerate(match[0], match.start())
    )


@lru_cache(8192)
def _form_of(char: str) -> str:
    """ "<font>" and so on, if it is a form of ASCII letters or digits; else ""."""
    form, _, codes = unicodedata.decomposition(char).partition(" ")
    is_plain = form in _FORMS and unicodedata.normalize("NFKC", char).isascii()
    return form if is_plain and chr(int(codes.split()[0], 16)).isalnum() else ""


def _is_usual(word: str, odd: list[str], styled: dict[str, str], alphabet: Alphabet) -> bool:
    form = styled[odd[0]]
    if form == "<wide>":
        return alphabet.is_east_asian and len(odd) == len(word)
    if form == "<font>" and (len(odd) < len(word) or odd[0].isdigit()):
        return False
    if form != "<font>" and not any(is_letter(unicodedata.normalize("NFKC", c)[0]) for c in odd):
        return True  # m², ½, ①②③
    return len(odd) < _FORMS[form]
