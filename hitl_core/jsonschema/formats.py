"""The `format` values of JSON Schema that are checked (draft 2020-12 validation, section 7.3).

Each is checked as its RFC says, with these exceptions: an e-mail address has no quoted local part and no
address in brackets, and a time has no leap second.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, time
from ipaddress import IPv4Address, IPv6Address

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
#: RFC 5321, section 4.1.2; its lengths are in section 4.5.3.1.
_EMAIL = re.compile(rf"({_ATOM}(?:\.{_ATOM})*)@{_LABEL}(?:\.{_LABEL})*")
_MAX_LOCAL_PART, _MAX_EMAIL = 64, 254
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"(\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII | re.IGNORECASE)
_SAFE = "A-Za-z0-9._~!$&'()*+,;="  # unreserved and sub-delims of RFC 3986
_ESCAPED = "%[0-9A-Fa-f]{2}"
_PATH = f"(?:[{_SAFE}:@/-]|{_ESCAPED})*"
#: RFC 3986, section 3. The groups are the host in brackets: an address of a later version, or IPv6.
_URI = re.compile(
    rf"[A-Za-z][A-Za-z0-9+.-]*:"
    rf"(?://(?:(?:[{_SAFE}:-]|{_ESCAPED})*@)?"
    rf"(?:\[(?:(v[0-9A-Fa-f]+\.[{_SAFE}:-]+)|([0-9A-Fa-f:.]+))\]|(?:[{_SAFE}-]|{_ESCAPED})*)"
    rf"(?::[0-9]*)?(?:/{_PATH})?|(?!//){_PATH})"
    rf"(?:\?(?:[{_SAFE}:@/?-]|{_ESCAPED})*)?(?:\#(?:[{_SAFE}:@/?-]|{_ESCAPED})*)?"
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def _email(text: str) -> None:
    local_part = _full_match(_EMAIL, text)[1]
    if len(local_part) > _MAX_LOCAL_PART or len(text) > _MAX_EMAIL:
        raise ValueError(text)


def _uri(text: str) -> None:
    if (address := _full_match(_URI, text)[2]) is not None:
        _ipv6(address)


def _date(text: str) -> None:
    _full_match(_DATE, text)
    date.fromisoformat(text)


def _time(text: str) -> None:
    clock, _, zone = _full_match(_TIME, text).groups()
    time.fromisoformat(clock)
    if len(zone) > 1:
        time.fromisoformat(zone[1:])


def _date_time(text: str) -> None:
    if text[10:11] not in ("T", "t"):
        raise ValueError(text)
    _date(text[:10])
    _time(text[11:])


def _uuid(text: str) -> None:
    _full_match(_UUID, text)


def _ipv6(text: str) -> None:
    """Refuses a zone (`%eth0`): RFC 4291 has no zones, and Python accepts any text there."""
    if "%" in text:
        raise ValueError(text)
    IPv6Address(text)


def _full_match(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    match = pattern.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return match


_CHECKS: dict[str, tuple[str, Callable[[str], object]]] = {
    "email": ("e-mail address", _email),
    "uri": ("URL", _uri),
    "date": ("date (YYYY-MM-DD)", _date),
    "time": ("time (HH:MM:SS with Z or an offset)", _time),
    "date-time": ("date and time (YYYY-MM-DDTHH:MM:SS with Z or an offset)", _date_time),
    "uuid": ("UUID", _uuid),
    "ipv4": ("IPv4 address", IPv4Address),
    "ipv6": ("IPv6 address", _ipv6),
}


#: The formats that a policy may use: those that are checked, and `password`, which hides the value.
POLICY_FORMATS = (*_CHECKS, "password")


def format_name(name: object) -> str | None:
    """The format's name for people, with its article; None for a format that is not checked."""
    if not isinstance(name, str) or name not in _CHECKS:
        return None
    words = _CHECKS[name][0]
    return ("an " if words[0] in "eI" else "a ") + words


def is_valid_format(name: object, value: object) -> bool:
    if not isinstance(value, str) or not isinstance(name, str) or name not in _CHECKS:
        return True
    try:
        _CHECKS[name][1](value)
    except ValueError:
        return False
    return True
