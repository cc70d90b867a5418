"""Requests with which an attacker tries to make the bot hang. Each is the bytes of a request, or of its first
part.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from benchmarks.support.http_client import post_request
from benchmarks.support.slack import sign

MIB = 1024 * 1024
SLACK, API = "/slack/events", "/v1/reviews"


class HostileRequest(NamedTuple):
    """`is_complete`: the whole request is sent; else its end is never sent. `is_slow`: it is sent byte by
    byte.
    """

    name: str
    payload: bytes
    is_complete: bool = True
    is_slow: bool = False


def make_requests(token: str) -> list[HostileRequest]:
    """`token` is an agent's, for requests that only an agent can send."""
    return [*_from_anybody(), *_from_slack(), *_from_agent(token)]


def _from_anybody() -> list[HostileRequest]:
    forged = {
        "X-Slack-Request-Timestamp": str(int(time.time())),
        "X-Slack-Signature": "v0=" + "0" * 64,
    }
    packed = {**forged, "Content-Encoding": "gzip"}
    bomb = gzip.compress(b"\0" * 200 * MIB)
    chunked = b"POST /slack/events HTTP/1.1\r\nHost: x\r\n%bTransfer-Encoding: chunked\r\n\r\n"
    header_text = "".join(f"{name}: {value}\r\n" for name, value in forged.items()).encode()
    tiny = b"1\r\nx\r\n" * 150_000 + b"0\r\n\r\n"
    headers = b"".join(b"X-%d: %b\r\n" % (n, b"a" * 700) for n in range(120))
    half = (
        b"POST /slack/events HTTP/1.1\r\nHost: x\r\n%bContent-Length: 900000\r\n\r\n" % header_text
    )
    return [
        HostileRequest("packed", post_request(SLACK, packed, bomb)),
        HostileRequest("packed, to /healthz", post_request("/healthz", packed, bomb)),
        HostileRequest("2 MiB", post_request(SLACK, forged, b"x" * 2 * MIB)),
        HostileRequest("1 MiB with a wrong signature", post_request(SLACK, forged, b"x" * MIB)),
        HostileRequest("chunks of a byte", chunked % header_text + tiny),
        HostileRequest("many headers", b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n"),
        HostileRequest("no HTTP", b"\x16\x03\x01" + b"\0" * 60_000 + b"\r\n\r\n"),
        HostileRequest(
            "half a head",
            b"POST /slack/events HTTP/1.1\r\nHost: x\r\nX-A: " + b"a" * 6000,
            is_complete=False,
        ),
        HostileRequest("half a body", half + b"x" * 800_000, is_complete=False),
        HostileRequest(
            "a slow drip of a head",
            b"GET /healthz HTTP/1.1\r\nX-A: ",
            is_complete=False,
            is_slow=True,
        ),
        HostileRequest("a slow drip of a body", half, is_complete=False, is_slow=True),
    ]


def _from_slack() -> list[HostileRequest]:
    """A signed request. In reality only Slack can send it."""
    bodies: Mapping[str, bytes] = {
        "deep JSON": b"payload=" + b"[" * (MIB - 10),
        "wide JSON": b"payload=[" + b"1," * 500_000 + b"1]",
        "many keys": _json({str(n): 1 for n in range(80_000)}),
        "huge numbers": b'{"a":[' + (b"9" * 4000 + b",") * 250 + b"1]}",
        "many fields": b"a=b&" * 260_000,
        "escapes": b"payload=" + b"%5B" * 340_000,
        "a wrong shape": b'{"type":"block_actions","user":[[]],"actions":"x"}',
    }
    return [HostileRequest(f"signed: {name}", sign(body)) for name, body in bodies.items()]


def _from_agent(token: str) -> list[HostileRequest]:
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
        "many keys": {f"k{n}": 1 for n in range(300_000)},
        "huge numbers": b'{"calls":[' + (b"9" * 4000 + b",") * 1000 + b"1]}",
        "bad UTF-8": b'{"calls":"' + b"\xff" * 4_000_000,
        "unevaluatedProperties": _submit_body({"a" * 3000: 1}, when={
            "patternProperties": {slow: {}}, "unevaluatedProperties": False}),
        "dependentSchemas": _submit_body({"a": 1, "b": 1}, when=fan),
        "$anchor": _submit_body({"list": [{}] * 1000}, when={"properties": {"list": refs}}),
        "150 patterns": _submit_body({"x": "a" * 3000}, schema={"properties": {
            f"p{n}": {"type": "string", "pattern": f"^({'(a|b)?' * 20}){{1,9}}{n}$"} for n in range(150)}}),
        "a context of 1,500 globs": _submit_body({}, context={f"t{n}*": {"when": {}} for n in range(1500)}),
        "100 globs of stars": _submit_body({}, context={f"{'*a' * 60}{n}": {} for n in range(100)}),
        "90 calls under a when": {**_submit_body({}, when={"properties": {"a": {"items": {"anyOf": [
            {"const": str(n)} for n in range(300)]}}}}), "calls": [
            {"id": f"c{n}", "name": "send_email", "args": {"a": list(range(180))}} for n in range(90)]},
        "wide arguments": _submit_body({"a": [{}] * 19_000}),
        "nested arguments": _submit_body({"a": [[[[]]]] * 4700}),
        "unique objects": _submit_body({"a": [{"k": n} for n in range(9000)]}, schema={
            "properties": {"a": {"uniqueItems": True}}}),
        "a large card": _submit_body({f"k{n}": "line\n" * 20 for n in range(2000)}),
        "many choices": _submit_body({"x": 0}, schema={"properties": {"x": {"enum": list(range(9000))}}}),
    }  # fmt: skip
    # Each has its own turn, so that those that are valid are stored.
    bodies = {
        name: body if isinstance(body, bytes) else _json({**body, "turn": name})
        for name, body in (hostile | _interrupts()).items()
    }
    return [
        HostileRequest(f"agent: {name}", post_request(API, headers, body))
        for name, body in bodies.items()
    ]


def _interrupts() -> dict[str, Any]:
    """Interrupts of other systems, and arguments whose schema marks many values."""
    calls = [{"name": "send_email", "args": {"a": n}, "description": "d"} for n in range(100)]
    own = [
        {"properties": {f"p{p}": {"pattern": f"^(a|b|c){{1,9}}x{n}y{p}$"} for p in range(10)}}
        for n in range(100)
    ]
    configs = [
        {"actionName": "send_email", "allowedDecisions": ["approve", "edit"], "argsSchema": schema}
        for schema in own
    ]
    marks = {"allOf": [{"properties": {"a": {"items": {"writeOnly": True}}}} for _ in range(24)]}
    wide = [{"id": f"c{n}", "name": "send_email", "args": {"a": [1] * 180}} for n in range(100)]
    asked = {"actionRequests": calls}
    plain = [{"actionName": "send_email", "allowedDecisions": ["approve", "reject"]}] * 100
    interrupts = {
        "marks in 100 calls": {"calls": wide, "tools": {"send_email": marks}},
        "an interrupt of 100 calls": {"interrupt": {**asked, "reviewConfigs": plain}},
        "JSON text of 1,300,000 values": {"interrupt": "[" + "{}," * 1_300_000 + "{}]"},
        "an interrupt of 100 schemas": {"interrupt": {**asked, "reviewConfigs": configs}},
    }
    return {name: {"thread_id": "hostile", **body} for name, body in interrupts.items()}


def _submit_body(
    args: object, *, when: object = None, schema: object = None, context: object = None
) -> dict[str, Any]:
    call = {"id": "c1", "name": "send_email", "args": args}
    submit_body: dict[str, Any] = {"thread_id": "hostile", "calls": [call]}
    if when is not None:
        context = {"send_email": {"when": when}}
    if context is not None:
        submit_body["context"] = {"interrupt_on": context}
    if schema is not None:
        submit_body["tools"] = {"send_email": schema}
    return submit_body


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
