# ruff: noqa: RUF001
"""Characters and addresses that look like others, or hide where something begins and ends: each has a
warning.
"""

from __future__ import annotations

import pytest

from bot.card.model.spans import Quote, plain_text
from bot.card.warnings import NamedValue, WarningKind, find_text, find_warnings, odd_values

HOSTS = {
    "pаypal.com": "is not paypal.com",
    "раураl.com": "is not paypal.com",
    "сосо.com": "is not coco.com",
    "billing@pаypal.com": "is not billing@paypal.com",
    "billing@сосо.com": "is not billing@coco.com",
    "https://аррӏе.com/login": "is not https://apple.com/login",
    "see https://тест.com/": "contains a part that is not https://tect.com/",
    "https://ɡoogle.com": "is not https://google.com",
    "https://ebаy.com:8080/x": "is not https://ebay.com:8080/x",
    "joe＠example.com": "is not joe@example.com",
    "https://example。com": "is not https://example.com",
    "https://good.example∕evil.example/": "is not https://good.example/evil.example/",
    "раура@example.com": "is not paypa@example.com",
    "https://日本раура.com": "it has Cyrillic",
}
LETTERS = {
    "раура1": "is not paypa1",
    "аррӏе": "is not apple",
    "РАУРАО 7": "is not PAYPAO",
    "Pay сосо today": "contains a part that is not coco",
    "bank-аxample": "it mixes Cyrillic and Latin",
    "αdmin": "is not admin",
    "ᏢᎪᎩᏢᎪᏞ": "is not PAYPAL",
    "ꓑꓮꓬꓑꓮꓡ": "is not PAYPAL",
    "paypaו": "is not paypal: it mixes Hebrew and Latin",
    "paypaا": "is not paypal: it mixes Arabic and Latin",
    "ןogin": "is not login: it mixes Hebrew and Latin",
    "goഠgle": "is not google",
    "ᴘᴀʏᴘᴀʟ": "is not paypal: it has rare Latin letters",
    "Привeт, мир": "contains the word Привeт",
    "Привет, @раура": "contains a part that is not paypa",
    "Привет, это раура1": "contains a part that is not paypa1",
    "ΑΒС-Дом": "mixes Cyrillic and Greek",
}
#: Symbols, marks and letters of no script, found by putting each look-alike of Unicode's table into words.
FAKES = {
    "p𝛂ypal": "which is not “a”",
    "jo@example.c𝝄m": "in c𝝄m, which is not “o”",
    "adm⍳n": "(apl functional symbol iota) in adm⍳n, which is not “i”",
    "paypa⏽": "which is not “l”",
    "admⅰn": "(small roman numeral one)",
    "gంod": "(telugu sign anusvara)",
    "adm˛n": "(ogonek)",
    "1,2Ʒ4,567.89": "which is not “3”",
    "1,2\U00016f3b4": "which is not “3”",
}
STYLED = {
    "12⁰.00": "contains a part that is not 120",
    "1,23₄,567": "contains a part that is not 234",
    "120.⓪0": "contains a part that is not 00",
    "𝟏𝟐𝟎.00": "contains a part that is not 120",
    "１２０": "is not 120",
    "𝓹𝓪𝔂𝓹𝓪𝓵": "is not paypal",
    "ⓟⓐⓨⓟⓐⓛ": "is not paypal",
    "ａdmin": "is not admin",
    "a𝐝min": "is not admin",
    "日本のＡbc": "contains a part that is not Abc",
    "🄿🄰🅈": "is not PAY",
}
SIGNS = {
    "good.example⁄login": "(fraction slash), which is not “/”",
    "10∕2026": "(division slash), which is not “/”",
    "ebay․com": "(one dot leader), which is not “.”",
    "10․000": "(one dot leader)",
    "https꞉//evil.example": "which is not “:”",
    "http:／／evil.example": "(fullwidth solidus)",
    "120‚00": "which is not “,”",
    "C:∖temp": "which is not “\\”",
    "日本 a＠b": "which is not “@”",
}
ADDRESSES: dict[str, tuple[WarningKind, str]] = {
    "https://good.example@evil.example": (
        "user_in_url",
        "has a link to evil.example, not to good.example",
    ),
    "https://good.example:443@evil.example/x": ("user_in_url", "a link to evil.example, not to"),
    "https://good.example\\@evil.example": ("user_in_url", "a link to evil.example, not to good.e"),
    "ssh://good.example@evil.example/x": ("user_in_url", "a link to evil.example"),
    '"good@example.com" <evil@example.org>': (
        "other_address",
        "goes to evil@example.org, not to good@example.com",
    ),
    "good@example.com <evil@example.org>": ("other_address", "goes to evil@example.org"),
    "A <a@x.org>, good＠example.com <b@x.org>": ("other_address", "goes to b@x.org, not to good@"),
    '"good@example.com, Inc." <evil@example.org>': ("other_address", "not to good@example.com"),
    "[https://good.example](https://evil.example/x)": ("other_address", "goes to evil.example"),
    '<a href="https://evil.example">www.good.example</a>': (
        "other_address",
        "evil.example, not to",
    ),
    "<https://evil.example|https://good.example>": ("other_address", "not to good.example"),
    "xn--80ak6aa92e.com": ("encoded_host", "which looks like apple.com and is not that"),
    "jo@XN--MNCHEN-3YA.de": ("encoded_host", "which is shown as münchen.de"),
    "http://xn--zzzzzz99999999.com": ("encoded_host", "which has no valid name"),
}
#: New texts of the same kinds: other ways to write links and mail addresses.
WRITTEN_OTHERWISE: dict[str, tuple[WarningKind, str]] = {
    "https:/good.example@evil.example/": ("user_in_url", "to evil.example, not to good.example"),
    "https:good.example@evil.example": ("user_in_url", "to evil.example, not to good.example"),
    "https:\\\\good.example@evil.example": ("user_in_url", "to evil.example, not to good.example"),
    "//good.example@evil.example/": ("user_in_url", "to evil.example, not to good.example"),
    "https://good.com%2Eevil.org/": ("encoded_host", "which is good.com.evil.org"),
    "https://good.com\\.evil.org/": ("encoded_host", "a backslash after good.com"),
    "http://2130706433/": ("encoded_host", "which is 127.0.0.1"),
    "http://0x7f.1/x": ("encoded_host", "which is 127.0.0.1"),
    "http://0177.0.0.1:8080/": ("encoded_host", "which is 127.0.0.1"),
    "https://paypal.com.evil.example/login": ("encoded_host", "of evil.example, not of paypal.com"),
    "help@paypal.com.evil.example": ("encoded_host", "of evil.example, not of paypal.com"),
    "javascript://good.com/%0aalert(1)": ("script_link", "(javascript:)"),
    "JaVaScRiPt:alert(1)": ("script_link", "runs what is written in it"),
    "data:text/html,<b>x</b>": ("script_link", "(data:text/html)"),
    "[click](javascript:alert(1))": ("script_link", "(javascript:)"),
    '"good@a.com"@evil.org': ("other_address", "a mailbox of evil.org, not to good@a.com"),
    "good@a.com@evil.org": ("other_address", "a mailbox of evil.org, not to good@a.com"),
    "good%a.com@evil.org": ("other_address", "a mailbox of evil.org, not to good%a.com"),
    "evil@b.org (good@a.com)": ("other_address", "goes to evil@b.org, not to good@a.com"),
    "(good@a.com) evil@b.org": ("other_address", "goes to evil@b.org, not to good@a.com"),
    "<evil@b.org> good@a.com": ("other_address", "goes to evil@b.org, not to good@a.com"),
    "good@a.com: evil@b.org;": ("other_address", "goes to evil@b.org, not to good@a.com"),
    "good @ a.com <evil@b.org>": ("other_address", "goes to evil@b.org, not to good@a.com"),
    "good (at) a.com <evil@b.org>": ("other_address", "goes to evil@b.org, not to good@a.com"),
    '"PayPal.com" <evil@b.org>': ("other_address", "goes to evil@b.org, not to PayPal.com"),
    "[good.com](https://evil.org)": ("other_address", "goes to evil.org, not to good.com"),
    "[www.good.com](//evil.org)": ("other_address", "goes to evil.org, not to good.com"),
    "<https://evil.org|good.com>": ("other_address", "goes to evil.org, not to good.com"),
    "<a href=//evil.org><b>good.com</b></a>": (
        "other_address",
        "goes to evil.org, not to good.com",
    ),
    "[good.com][1]\n\n[1]: https://evil.org": (
        "other_address",
        "goes to evil.org, not to good.com",
    ),
}
OTHERS: dict[str, tuple[WarningKind, str]] = {
    "5 א 100 USD": ("number_order", "in their real order they are 5, 100"),
    "א 100 200": ("number_order", "in their real order they are 100, 200"),
    "80.00 ש 120.00 EUR": ("number_order", "80.00, 120.00"),
    "৪০": ("digits", "has Bengali digits in ৪০, which is 40"),
    "1٢3": ("digits", "Arabic digits in 1٢3, which is 123"),
    "٣۴": ("digits", "which is 34"),
    "g০০gle": ("digits", "which is g00gle"),
    "a     b": ("spaces", "has 5 spaces in a row"),
    " admin": ("spaces", "begins with a space"),
    "admin ": ("spaces", "ends with a space"),
    "   ": ("spaces", "consists of spaces"),
    "a\u200bb": ("invisible", "invisible"),
    "a\u00a0b": ("invisible", "invisible"),
    "a\x1b[2Kb": ("invisible", "control"),
    "a\u202eb": ("reordering", "changes the order"),
    "cafe\u0301": ("not_normal", "usual form"),
    "\u212b": ("not_normal", "usual form"),
    "\u1112\u1161\u11ab": ("not_normal", "usual form"),
}
ALL: dict[str, tuple[WarningKind, str]] = {
    **{text: ("host", says) for text, says in HOSTS.items()},
    **{text: ("look_alike", says) for text, says in LETTERS.items()},
    **{text: ("look_alike", says) for text, says in FAKES.items()},
    **{text: ("styled", says) for text, says in STYLED.items()},
    **{text: ("sign", says) for text, says in SIGNS.items()},
    **ADDRESSES,
    **WRITTEN_OTHERWISE,
    **OTHERS,
}


@pytest.mark.parametrize("words", ALL, ids=ascii)
def test_what_reads_like_something_else_is_told(words: str) -> None:
    """Given a text that reads like another one, then the first warning says what
    kind it is, and what the text is not."""
    kind, says = ALL[words]

    first, *_ = find_text(words)

    assert first.kind == kind
    assert says in plain_text(first.words)


@pytest.mark.parametrize("words", ALL, ids=ascii)
@pytest.mark.parametrize("value", [lambda one: {"a": [1, {"b": one}]}, lambda one: {one: 1}])
def test_a_text_deep_in_a_value_and_a_key_are_checked_too(words: str, value) -> None:
    warnings = find_warnings([NamedValue(Quote("to"), value(words))])

    assert warnings.count == 1
    assert ALL[words][0] in warnings.kinds or "spaces" in (warnings.kinds[0], ALL[words][0])
    assert plain_text(warnings.lines[0]).startswith("“to” ")


def test_a_key_with_spaces_in_a_row_is_told() -> None:
    """Given a key that two spaces make look like a value, then it is told; a value may
    have two spaces."""
    (found,) = find_text("amount  80.00 EUR  (limit", is_key=True)

    assert found.kind == "spaces"
    assert find_text("one.  Two") == ()


def test_an_argument_has_one_warning_of_a_kind() -> None:
    """Given a value with two odd texts of one kind, and one of another, then there are two warnings about
    one odd value."""
    warnings = find_warnings([NamedValue(Quote("x"), ["pаy", "раураl.com", "ebаy", " a"])])

    assert warnings.kinds == ("look_alike", "host", "spaces")
    assert odd_values(warnings.count) == "1 odd value"


def test_of_many_odd_values_the_first_are_named() -> None:
    values = iter([NamedValue(Quote(f"k{n}"), "a\u202eb") for n in range(9)])

    warnings = find_warnings(values)

    assert [line[0] for line in warnings.lines[:-1]] == [Quote(f"k{n}") for n in range(5)]
    assert warnings.kinds[-1] == "more"
    assert odd_values(warnings.count) == "at least 6 odd values"
    assert len(list(values)) == 3, "no more are looked at than that takes"


def test_hidden_values_are_not_looked_at() -> None:
    """Given a placeholder of a hidden value, then it is nothing odd."""
    assert find_text("\ud800") == ()


def test_a_key_moves_the_number_behind_it() -> None:
    """Given a key with a number and right-to-left letters: its value would be drawn
    beside that number; then it is told, also if the value is a number. A key without a number moves nothing.
    """
    (found,) = find_text("amount 5 א", is_key=True)

    assert found.kind == "number_order"
    assert find_text("סכום", is_key=True) == ()
    assert find_text("סכום amount", is_key=True) == ()


def test_what_changes_the_order_is_no_letter_of_a_host() -> None:
    """Given a file name behind a right-to-left override; then there is one warning, and not one about a host
    that nobody wrote. Look-alike letters beside it are still told."""
    assert [one.kind for one in find_text("Invoice \u202egpj.exe")] == ["reordering"]
    kinds = [one.kind for one in find_text("p\u0430yp\u0430l.com \u202egpj.exe")]
    assert kinds == ["reordering", "host"]
