"""Compresses stored reviews and audit entries: most of their JSON is the same in all of them."""

from __future__ import annotations

import zlib
from typing import Any

#: Text that most reviews and entries share, the most frequent last. Stored data can only be read with the
#: same dictionary. So never change it: a new dictionary needs a new value of _PACKED, and this one must stay.
_DICTIONARY = (
    b'"properties":{"type":"string","description":"title":"required":["additionalProperties":false'
    b'"enum":["default":"earlier":[{"tool":"escalations":[{"to":"slack:#","at":"step":0"left":"rem'
    b'inded":["since":"until":"edits":[{"cancels":[{"settled_at":"done_at":"cancelled":{"waiter":"'
    b'lease":{"holder":"fence":1,"runs":{"1":{"state":"started","attempt":1,"at":"line":"troubles"'
    b':{"edit_notice":"trace":"00-"path":["dialect":"langchain_js","origin":"slack:C0"rejected_bef'
    b'ore":{"review_id":"times":1"redact":["/"display":[{"pointer":"/"style":"idempotent":true,"hi'
    b'de_when_decided":true"hides_values":true"must_read":false,"confirm":true"answer_schema":{"ou'
    b'tput":{"key":"into":"state""reject_reason":"required""interrupt_id":"title":"takes":["extra"'
    b':{"text":"by_agent":true,"computed":true"clock":"delivered""fallback":"default""remind":1800'
    b'.0"expire":{"after":3600.0"decision":"reject""message":"ops":{"click:"votes":[{"type":"appro'
    b've","by":{"channel":"slack","team":"T0","id":"U0","name":"","at":17"revision":1,"decision":{'
    b'"type":"approve","by":{"channel":"slack","team":"T0"tools":{"args_schema":{"type":"object","'
    b'properties":{"to":{"type":"string"},"policy_schema":{"type":"object","route":{"notify":["sla'
    b'ck:#"],"reviewers":{"users":["U0"],"groups":["S0""channel_members":true"quorum":2,"reject_qu'
    b'orum":2"exclude_requester":true,"editor_approves":false},"escalate":[{"after":600.0,"to":"sl'
    b'ack:#"}]"says_reviewers":true"reason":"The rule ` asks for a person."},"action":"1","at":179'
    b'"by":{"channel":"slack","id":"name":"team":"kind":"decided","op":"what":"approve""why":"kind'
    b'":"done","kind":"started","kind":"claimed","kind":"reported","kind":"escalated","place":"sla'
    b'ck:"before":"digest":"{"action":"1","at":17"digest":"","hash":"","kind":"submitted","n":1,"p'
    b'olicy":"","prev":"","review_id":"0-","rule":"{"at":17"hash":"","kind":"delivered","n":2,"pla'
    b'ce":"default","prev":"","review_id":"0-","what":"slack:C0/17"}{"schema_version":1,"id":"0-",'
    b'"agent":"","thread_id":"","turn":"#1","requester":null,"requester":"U0","policy":"","created'
    b'_at":17"calls":[{"key":"1","tool_call_id":"toolu_","name":"","digest":"","verdict":{"kind":"'
    b'review","rule":null,"reason":"No policy rule covers this tool."},"route":{}}],"actions":[{"k'
    b'ey":"1","submitted_at":17,"request":{"tool_call_id":"call_","name":"","description":"Tool ex'
    b'ecution requires approval"},"config":{"action_name":"","allowed_decisions":["approve","edit"'
    b',"reject"]},"route":{},"digest":""}],"excerpt":"{\\"default\\":{\\"kind\\":\\"review\\",\\"prefix'
    b'\\":\\"Tool execution requires approval\\",\\"route\\":{}},\\"rules\\":[{\\"name\\":\\"\\",\\"kind'
    b'\\":\\"review\\",\\"prefix\\":\\"\\",\\"route\\":{}}]}","version":1,"status":"settled"}'
)
#: The first byte of packed text. JSON never begins with it.
_PACKED = b"\x01"
#: Longer text is stored as it is: the event loop waits while text is packed (a few milliseconds for this
#: length).
_MAX_TEXT = 128 * 1024
#: Above this size a larger window saves more than it costs.
_SMALL = 4096


def pack(text: bytes) -> bytes:
    """The JSON object in fewer bytes; unchanged if it is long."""
    if len(text) > _MAX_TEXT:
        return text
    packer = (_small_packer if len(text) < _SMALL else _packer).copy()
    return _PACKED + packer.compress(text) + packer.flush()


def unpack(data: bytes) -> bytes:
    """The text that `pack` got. Raises ValueError for damaged data, and for text that `pack` doesn't pack."""
    if data[:1] != _PACKED:
        return data
    unpacker = _unpacker.copy()
    try:
        text = unpacker.decompress(data[1:], _MAX_TEXT + 1)
    except zlib.error as error:
        raise ValueError("it is damaged, or another version has packed it") from error
    if not unpacker.eof:
        raise ValueError("it is cut off, or longer than what is packed")
    return text


def _make_packer(window: int, memory: int) -> Any:
    return zlib.compressobj(3, zlib.DEFLATED, -window, memory, zlib.Z_DEFAULT_STRATEGY, _DICTIONARY)


# Both have read the dictionary already. Use only copies of them.
_small_packer, _packer = _make_packer(12, 4), _make_packer(15, 6)
_unpacker = zlib.decompressobj(-15, _DICTIONARY)
