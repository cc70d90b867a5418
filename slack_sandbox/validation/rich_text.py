"""The limits of `rich_text` blocks.

https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
"""

from __future__ import annotations

from ..json_checks import (
    Check,
    array,
    boolean,
    by_type,
    choice,
    fields,
    integer,
    string,
    url_string,
)

_MANY = 10_000
_STYLE = fields(
    {},
    dict.fromkeys(
        (
            "bold",
            "italic",
            "strike",
            "code",
            "underline",
            "highlight",
            "client_highlight",
            "unlink",
        ),
        boolean,
    ),
)
_STYLED: dict[str, Check] = {"style": _STYLE}
_TEXT = fields({"text": string(_MANY * 10)}, _STYLED)
_LINK = fields({"url": url_string(3000)}, {**_STYLED, "text": string(_MANY), "unsafe": boolean})
_INLINE = by_type(
    {
        "text": _TEXT,
        "link": _LINK,
        "user": fields({"user_id": string(255)}, _STYLED),
        "usergroup": fields({"usergroup_id": string(255)}, _STYLED),
        "channel": fields({"channel_id": string(255)}, _STYLED),
        "team": fields({"team_id": string(255)}, _STYLED),
        "emoji": fields({"name": string(255)}, {**_STYLED, "unicode": string(255)}),
        "broadcast": fields({"range": choice("here", "channel", "everyone")}, _STYLED),
        "color": fields({"value": string(255)}, _STYLED),
        "date": fields(
            {"timestamp": integer(0, 99_999_999_999), "format": string(255)},
            {**_STYLED, "url": url_string(3000), "fallback": string(255)},
        ),
    }
)
_SECTION = fields({"elements": array(_INLINE, 0, _MANY)})
_BORDER: dict[str, Check] = {"border": integer(0, 1)}

RICH_TEXT = fields(
    {
        "elements": array(
            by_type(
                {
                    "rich_text_section": _SECTION,
                    "rich_text_preformatted": fields(
                        {"elements": array(by_type({"text": _TEXT, "link": _LINK}), 0, _MANY)},
                        {**_BORDER, "language": string(255)},
                    ),
                    "rich_text_quote": fields({"elements": array(_INLINE, 0, _MANY)}, _BORDER),
                    "rich_text_list": fields(
                        {
                            "style": choice("bullet", "ordered"),
                            "elements": array(by_type({"rich_text_section": _SECTION}), 0, _MANY),
                        },
                        {**_BORDER, "indent": integer(0, 8), "offset": integer(0, _MANY)},
                    ),
                }
            ),
            0,
            _MANY,
        )
    },
    {"block_id": string(255)},
)
