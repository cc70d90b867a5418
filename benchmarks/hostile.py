"""What people send who want the bot to stand still: each kind as the bytes of a request or a part of it."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from benchmarks.payload import signed
from benchmarks.wire import post

MIB = 1024 * 1024
SLACK, DOOR = "/slack/events", "/v1/reviews"


class Kind(NamedTuple):
    """`whole`: it is a request that is answered; of others the rest never comes. `drips`: byte by byte."""

    name: str
    sent: bytes
    whole: bool = True
    drips: bool = False


def kinds(token: str) -> list[Kind]:
    """`token` is an agent's, for what only an agent can send."""
    return [*_by_anybody(), *_by_slack(), *_by_an_agent(token)]


def _by_anybody() -> list[Kind]:
    forged = {
        "X-Slack-Request-Timestamp": str(int(time.time())),
        "X-Slack-Signature": "v0=" + "0" * 64,
    }
    packed = {**forged, "Content-Encoding": "gzip"}
    bomb = gzip.compress(b"\0" * 200 * MIB)
    chunked = b"POST /slack/events HTTP/1.1\r\nHost: x\r\n%bTransfer-Encoding: chunked\r\n\r\n"
    said = "".join(f"{name}: {value}\r\n" for name, value in forged.items()).encode()
    tiny = b"1\r\nx\r\n" * 150_000 + b"0\r\n\r\n"
    headers = b"".join(b"X-%d: %b\r\n" % (n, b"a" * 700) for n in range(120))
    half = b"POST /slack/events HTTP/1.1\r\nHost: x\r\n%bContent-Length: 900000\r\n\r\n" % said
    return [
        Kind("packed", post(SLACK, packed, bomb)),
        Kind("packed, to /healthz", post("/healthz", packed, bomb)),
        Kind("2 MiB", post(SLACK, forged, b"x" * 2 * MIB)),
        Kind("1 MiB with a wrong signature", post(SLACK, forged, b"x" * MIB)),
        Kind("chunks of a byte", chunked % said + tiny),
        Kind("many headers", b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n"),
        Kind("no HTTP", b"\x16\x03\x01" + b"\0" * 60_000 + b"\r\n\r\n"),
        Kind(
            "half a head",
            b"POST /slack/events HTTP/1.1\r\nHost: x\r\nX-A: " + b"a" * 6000,
            whole=False,
        ),
        Kind("half a body", half + b"x" * 800_000, whole=False),
        Kind("a slow drip of a head", b"GET /healthz HTTP/1.1\r\nX-A: ", whole=False, drips=True),
        Kind("a slow drip of a body", half, whole=False, drips=True),
    ]


def _by_slack() -> list[Kind]:
    """Signed: to be sure, only Slack can."""
    bodies: Mapping[str, bytes] = {
        "deep JSON": b"payload=" + b"[" * (MIB - 10),
        "wide JSON": b"payload=[" + b"1," * 500_000 + b"1]",
        "many keys": _json({str(n): 1 for n in range(80_000)}),
        "huge numbers": b'{"a":[' + (b"9" * 4000 + b",") * 250 + b"1]}",
        "many fields": b"a=b&" * 260_000,
        "escapes": b"payload=" + b"%5B" * 340_000,
        "a wrong shape": b'{"type":"block_actions","user":[[]],"actions":"x"}',
    }
    return [Kind(f"signed: {name}", signed(body)) for name, body in bodies.items()]


def _by_an_agent(token: str) -> list[Kind]:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    slow = "^a*a*a*a*a*b$"
    fan: dict[str, Any] = {"type": "object"}
    for _ in range(14):
        fan = {"dependentSchemas": {"a": fan, "b": fan}} if len(json.dumps(fan)) < 60_000 else fan
    anchors = {f"d{n}": {"$anchor": f"a{n}", "type": "object"} for n in range(300)}
    refs = {"$defs": anchors, "items": {"anyOf": [{"$ref": f"#a{n}"} for n in range(300)]}}
    hostile: Mapping[str, Any] = {
        "deep JSON": b'{"calls":' + b"[" * MIB,
        "wide JSON": b'{"calls":[' + b"1," * 2_000_000 + b"1]}",
        "many keys": _json({f"k{n}": 1 for n in range(300_000)}),
        "huge numbers": b'{"calls":[' + (b"9" * 4000 + b",") * 1000 + b"1]}",
        "bad UTF-8": b'{"calls":"' + b"\xff" * 4_000_000,
        "unevaluatedProperties": _asked({"a" * 3000: 1}, when={
            "patternProperties": {slow: {}}, "unevaluatedProperties": False}),
        "dependentSchemas": _asked({"a": 1, "b": 1}, when=fan),
        "$anchor": _asked({"list": [{}] * 1000}, when={"properties": {"list": refs}}),
        "150 patterns": _asked({"x": "a" * 3000}, schema={"properties": {
            f"p{n}": {"type": "string", "pattern": f"^({'(a|b)?' * 20}){{1,9}}{n}$"} for n in range(150)}}),
        "a context of 1,500 globs": _asked({}, context={f"t{n}*": {"when": {}} for n in range(1500)}),
        "100 globs of stars": _asked({}, context={f"{'*a' * 60}{n}": {} for n in range(100)}),
        "90 calls under a when": {**_asked({}, when={"properties": {"a": {"items": {"anyOf": [
            {"const": str(n)} for n in range(300)]}}}}), "calls": [
            {"id": f"c{n}", "name": "send_email", "args": {"a": list(range(180))}} for n in range(90)]},
        "wide arguments": _asked({"a": [{}] * 19_000}),
        "nested arguments": _asked({"a": [[[[]]]] * 4700}),
        "unique objects": _asked({"a": [{"k": n} for n in range(9000)]}, schema={
            "properties": {"a": {"uniqueItems": True}}}),
        "a large card": _asked({f"k{n}": "line\n" * 20 for n in range(2000)}),
        "many choices": _asked({"x": 0}, schema={"properties": {"x": {"enum": list(range(9000))}}}),
    }  # fmt: skip
    return [
        Kind(
            f"agent: {name}", post(DOOR, headers, body if isinstance(body, bytes) else _json(body))
        )
        for name, body in hostile.items()
    ]


def _asked(
    args: object, *, when: object = None, schema: object = None, context: object = None
) -> dict[str, Any]:
    call = {"id": "c1", "name": "send_email", "args": args}
    asked: dict[str, Any] = {"thread_id": "hostile", "turn": "1", "calls": [call]}
    if when is not None:
        context = {"send_email": {"when": when}}
    if context is not None:
        asked["context"] = {"interrupt_on": context}
    if schema is not None:
        asked["tools"] = {"send_email": schema}
    return asked


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
