"""Compresses stored reviews and audit entries: most of their JSON is the same in all of them."""

from __future__ import annotations

import zlib
from typing import Any

#: Text that most reviews and entries share, the most frequent last. Stored data can only be read with the
#: same dictionary. So never change it: a new dictionary needs a new value of _PACKED, and this one must stay.
_DICTIONARY = (
    b'"properties":{"type":"string","description":"title":"required":["additionalProperties":false'
    b'"enum":["default":"earlier":[{"tool":"escalations":[{"to":"slack:#","at":"step":0"left":"rem'
    b'inded":["since":"until":"edits":[{"cancel_votes":[{"settled_at":"done_at":"cancelled":{"wait'
    b'ing_process":"lease":{"holder":"fence":1,"runs":{"1":{"state":"started","attempt":1,"at":"li'
    b'ne":"delivery_problems":{"edit_notice":"trace":"00-"path":["dialect":"langchain_js","origin"'
    b':"slack:C0"rejected_before":{"review_id":"times":1"redact":["/"display":[{"pointer":"/"style'
    b'":"idempotent":true,"hide_when_decided":true"hides_values":true"must_read":false,"confirm":t'
    b'rue"answer_schema":{"output":{"key":"into":"state""reject_reason":"required""interrupt_id":"'
    b'title":"accepted_decisions":["extra":{"text":"by_agent":true,"computed":true"clock":"deliver'
    b'ed""fallback":"default""remind":1800.0"expire":{"after":3600.0"decision":"reject""message":"'
    b'ops":{"click:"votes":[{"type":"approve","by":{"channel":"slack","team":"T0","id":"U0","name"'
    b':"","at":17"revision":1,"decision":{"type":"approve","by":{"channel":"slack","team":"T0"tool'
    b's":{"args_schema":{"type":"object","properties":{"to":{"type":"string"},"policy_schema":{"ty'
    b'pe":"object","route":{"notify":["slack:#"],"reviewers":{"users":["U0"],"groups":["S0""channe'
    b'l_members":true"quorum":2,"reject_quorum":2"exclude_requester":true,"editor_approves":false}'
    b',"escalate":[{"after":600.0,"to":"slack:#"}]"says_reviewers":true"reason":"The rule ` asks f'
    b'or a person."},"action":"1","at":179"by":{"channel":"slack","id":"name":"team":"kind":"decid'
    b'ed","op":"what":"approve""why":"kind":"done","kind":"started","kind":"claimed","kind":"repor'
    b'ted","kind":"escalated","place":"slack:"before":"args_hash":"{"action":"1","at":17"args_hash":"","'
    b'hash":"","kind":"submitted","n":1,"policy":"","prev":"","review_id":"0-","rule":"{"at":17"ha'
    b'sh":"","kind":"delivered","n":2,"place":"default","prev":"","review_id":"0-","what":"slack:C'
    b'0/17"}{"schema_version":1,"id":"0-","agent":"","thread_id":"","turn":"#1","requester":null,"'
    b'requester":"U0","policy":"","created_at":17"calls":[{"key":"1","tool_call_id":"toolu_","name'
    b'":"","args_hash":"","verdict":{"kind":"review","rule":null,"reason":"No policy rule covers this'
    b' tool."},"route":{}}],"actions":[{"key":"1","submitted_at":17,"request":{"tool_call_id":"cal'
    b'l_","name":"","description":"Tool execution requires approval"},"config":{"action_name":"","'
    b'allowed_decisions":["approve","edit","reject"]},"route":{},"args_hash":""}],"excerpt":"{\\"defa'
    b'ult\\":{\\"kind\\":\\"review\\",\\"prefix\\":\\"Tool execution requires approval\\",\\"route'
    b'\\":{}},\\"rules\\":[{\\"name\\":\\"\\",\\"kind\\":\\"review\\",\\"prefix\\":\\"\\",\\"route'
    b'\\":{}}]}","version":1,"status":"settled"}'
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
