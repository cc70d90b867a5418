"""Signs, digits and spaces that mislead, and characters that change the order of a text. Pure."""

from __future__ import annotations

import re
import unicodedata

from ... import text
from ..model import Strong
from .finding import Alphabet, Finding, name_scripts, part_of, sentence
from .unicode_data import is_letter, looks_like, script_of

#: Characters that reorder the text after them: Trojan Source, CVE-2021-42574.
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
#: ASCII signs with a meaning in addresses, paths, numbers and code.
_SIGNS = frozenset("/\\.,:;@_%&=#?!+")
#: Those of them that matter between the Latin words of an East Asian text, which uses full-width punctuation.
_ADDRESS_SIGNS = frozenset("@./\\_")
_FRACTION = re.compile(r"(?<!\d)\d{1,2}\u2044\d{1,2}(?!\d)")
#: A longer text is shown on its own lines.
_MAX_ONE_LINE = 160
_SPACES = re.compile("(?<! ) {3,}(?! )")
_KEY_SPACES = re.compile("  +")
_DIGITS = re.compile(r"\w*\d\w*(?:[.,]\d+)*")
_NUMBER_OR_LETTERS = re.compile(r"(?P<number>\d+(?:[.,:/]\d+)*)|[^\W\d_]+")
_RIGHT = ("R", "AL")


def remove_reordering(words: str) -> str:
    """The text without the characters that change the order."""
    return _BIDI.sub("", words)


def find_reordering(alphabet: Alphabet) -> Finding | None:
    if alphabet.chars and _BIDI.search(alphabet.text):
        words = "contains a character that changes the order of the text after it"
        return Finding("reordering", sentence(words))
    return None


def find_invisible(alphabet: Alphabet) -> Finding | None:
    whole = alphabet.text.replace("\r\n", "\n")
    for match in text.SUSPECT.finditer(whole):
        if not text.is_visible(match[0], whole, match.start()) and not _is_usual(match, alphabet):
            return Finding("invisible", sentence("contains invisible or control characters"))
    return None


def _is_usual(match: re.Match[str], alphabet: Alphabet) -> bool:
    """Whether honest texts use the character in this position. The card marks it in any case."""
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    match match[0]:
        case "\u3000":
            return alphabet.is_east_asian
        case "\u00a0" | "\u202f":  # 10 €, « oui »
            return any(one and (one.isdigit() or _kind(one) in "PS") for one in (before, after))
        case "\u200c" | "\u200d" if before and after:  # in Persian and Indic words, and in emojis
            joins = unicodedata.bidirectional(before) == "AL" or unicodedata.combining(before) == 9
            is_emoji = match[0] == "\u200d" and {_kind(before), _kind(after)} <= {"S", "M"}
            return is_emoji or (joins and is_letter(after) and bool(script_of(after)))
        case _:
            return False


def _kind(char: str) -> str:
    return unicodedata.category(char)[0]


def find_fake_sign(alphabet: Alphabet) -> Finding | None:
    """A sign between Latin letters or digits that only looks like an ASCII sign."""
    fakes = {char: looks for char in alphabet.chars if (looks := _sign_of(char))}
    if alphabet.is_east_asian:
        fakes = {
            char: looks
            for char, looks in fakes.items()
            if not is_letter(char)
            and (looks in _ADDRESS_SIGNS or unicodedata.east_asian_width(char) not in "FW")
        }
    if not fakes:
        return None
    pattern = f"(?<=[A-Za-z0-9:/.])[{re.escape(''.join(fakes))}]+(?=[A-Za-z0-9/])"
    for match in re.finditer(pattern, alphabet.text):
        around = alphabet.text[max(0, match.start() - 3) : match.end() + 3]
        if match[0] == "\u2044" and _FRACTION.search(around):
            continue
        char = match[0][0]
        name = unicodedata.name(char, f"U+{ord(char):04X}").lower()
        words = sentence(
            "has the sign “", part_of(char), f"” ({name}), which is ", Strong("not"), f" “{fakes[char]}”"
        )  # fmt: skip
        return Finding("sign", words)
    return None


def _sign_of(char: str) -> str:
    looks = looks_like(char)
    return looks if looks in _SIGNS and not char.isdigit() else ""


def find_odd_digits(alphabet: Alphabet) -> Finding | None:
    """Digits of two kinds in one number, or look-alike digits in a text that doesn't use their script."""
    foreign = {c for c in alphabet.chars if c.isdecimal() and script_of(c)}
    if not foreign:
        return None
    lettered = {script_of(char) for char in alphabet.chars if is_letter(char)}
    for match in _DIGITS.finditer(alphabet.text):
        kinds = {_zero(char) for char in match[0] if char.isdecimal()}
        odd = {char for char in match[0] if char in foreign and script_of(char) not in lettered}
        latin = any(char.isascii() and char.isalpha() for char in match[0])
        lying = any(
            looks_like(char).isdigit() and looks_like(char) != str(unicodedata.digit(char))
            for char in odd
        )
        if len(kinds) > 1 or (odd and (latin or lying)):
            plain = "".join(str(unicodedata.digit(c)) if c.isdecimal() else c for c in match[0])
            scripts = name_scripts({script_of(char) for char in match[0] if char in foreign})
            words = sentence(
                "has ", scripts, " digits in ", part_of(match[0]), ", which is ", part_of(plain)
            )
            return Finding("digits", words)
    return None


def _zero(digit: str) -> int:
    """The zero of the digit's kind."""
    return ord(digit) - unicodedata.digit(digit)


def find_number_order(alphabet: Alphabet) -> Finding | None:
    """Numbers whose order changes beside a few right-to-left letters (Unicode Standard Annex 9). In a text
    that is right-to-left as a whole, readers expect this order.
    """
    right = {c for c in alphabet.chars if unicodedata.bidirectional(c) in _RIGHT}
    if not right:
        return None
    whole = alphabet.text
    count = sum(whole.count(char) for char in right)
    if count > sum(char.isdigit() or (char.isascii() and char.isalpha()) for char in whole):
        return None
    for line in whole.splitlines():
        numbers = _moved_numbers(line, right)
        if numbers:
            words = sentence(
                "has right-to-left letters, which move the numbers: in their real order they are ",
                part_of(", ".join(numbers)),
            )
            return Finding("number_order", words)
    return None


def _moved_numbers(line: str, right: set[str]) -> list[str]:
    """All numbers of the line, if one after right-to-left letters is drawn before an earlier one."""
    numbers: list[str] = []
    moves = follows_number = follows_right = False
    for match in _NUMBER_OR_LETTERS.finditer(line):
        if match["number"]:
            moves = moves or (follows_number and follows_right)
            follows_number = True
            numbers.append(match[0])
        else:
            follows_right = match[0][-1] in right
            follows_number = follows_number and right.issuperset(match[0])
    return numbers if moves else []


def find_not_normal(alphabet: Alphabet) -> Finding | None:
    """Letters in a form that looks exactly like Unicode's usual form (NFC). Only these scripts are checked:
    others are often typed in another order.
    """
    whole = alphabet.text
    if not alphabet.chars or unicodedata.is_normalized("NFC", whole):
        return None
    scripts = {"Latin", "Greek", "Cyrillic", "Hangul", "Han"}
    for clusters in re.finditer(r"\S+", whole):
        word = clusters[0]
        if not unicodedata.is_normalized("NFC", word) and (
            scripts & {script_of(char) for char in word}
        ):
            words = "isn't in Unicode's usual form (NFC): another text can look exactly like it"
            return Finding("not_normal", sentence(words))
    return None


def find_spaces(alphabet: Alphabet, *, is_key: bool = False) -> Finding | None:
    """Runs of spaces, and spaces at an edge, in a short text. In a longer text they are indentation."""
    whole = alphabet.text
    if len(whole) > _MAX_ONE_LINE or "\n" in whole or " " not in whole:
        return None
    if not whole.strip(" "):
        return Finding("spaces", sentence("consists of spaces"))
    if whole[0] == " " or whole[-1] == " ":
        where = "begins" if whole[0] == " " else "ends"
        return Finding("spaces", sentence(f"{where} with a space"))
    if match := (_KEY_SPACES if is_key else _SPACES).search(whole):
        return Finding("spaces", sentence(f"has {len(match[0]):,} spaces in a row"))
    return None
