"""The limits of block elements: buttons, menus and pickers.

Limits: https://docs.slack.dev/reference/block-kit/block-elements and the doc comments of
`@slack/types`. Where the two differ (an option's value: 75 or 150), the smaller one is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Any

from ..json_checks import (
    Check,
    Json,
    anything,
    array,
    boolean,
    by_type,
    check_then,
    choice,
    fields,
    integer,
    is_list,
    is_object,
    objects_in,
    plain,
    problem,
    string,
    string_matching,
    text,
    url_string,
)
from .rich_text import RICH_TEXT

ID = string(255)
CONFIRM = fields(
    {"title": plain(100), "text": text(300), "confirm": plain(30), "deny": plain(30)},
    {"style": choice("primary", "danger")},
)
DISPATCH = fields(
    {"trigger_actions_on": array(choice("on_enter_pressed", "on_character_entered"), 1, 2)}
)


def _option(label: Check, **more: Check) -> Check:
    return fields({"text": label, "value": string(75)}, {"description": plain(75), **more})


MENU_OPTION = _option(plain(75))
LIST_OPTION = _option(text(75))
OPTION_GROUP = fields({"label": plain(75), "options": array(MENU_OPTION, 1, 100)})


def options_of(element: Json) -> list[Json]:
    """All options of an element, those in groups too, in the order in which they are shown."""
    groups = objects_in(element.get("option_groups"))
    return objects_in(element.get("options")) + [
        one for group in groups for one in objects_in(group.get("options"))
    ]


def with_defaults(value: Any) -> Any:
    """The same JSON with the defaults of its text objects written out, as Slack stores them."""
    if is_list(value):
        return [with_defaults(one) for one in value]
    if not is_object(value):
        return value
    result = {key: with_defaults(one) for key, one in value.items()}
    if value.get("type") == "plain_text":
        result.setdefault("emoji", True)
    elif value.get("type") == "mrkdwn":
        result.setdefault("verbatim", False)
    return result


def _menu_problems(element: Json, at: str) -> Iterator[str]:
    """One of `options` and `option_groups`, and initial options that are among them."""
    if ("options" in element) == ("option_groups" in element):
        yield problem("must define either options or option_groups", at)
        return
    options = with_defaults(options_of(element))
    for key in ("initial_option", "initial_options"):
        if key in element:
            initial = element[key] if key == "initial_options" else [element[key]]
            if any(with_defaults(one) not in options for one in initial):
                yield problem(f"{key} must be an exact match of one of the options", f"{at}/{key}")


def is_date(value: str) -> bool:
    try:
        return bool(re.fullmatch(r"\d{4}-\d\d-\d\d", value)) and bool(date.fromisoformat(value))
    except ValueError:
        return False


def is_time(value: str) -> bool:
    return bool(re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", value))


PLACEHOLDER_KEYS = {"action_id": ID, "focus_on_load": boolean, "placeholder": plain(150)}
TEXT_INPUT_KEYS = {**PLACEHOLDER_KEYS, "dispatch_action_config": DISPATCH}
SELECT_KEYS = {**PLACEHOLDER_KEYS, "confirm": CONFIRM}
CHOICE_KEYS: dict[str, Check] = {"action_id": ID, "focus_on_load": boolean, "confirm": CONFIRM}
MAX_SELECTED = integer(1, 100)


def _select(more: dict[str, Check]) -> Check:
    return fields({}, {**SELECT_KEYS, **more})


def _slack_menus(name: str, many: str) -> dict[str, Check]:
    """A menu that Slack fills (people, channels), with one choice and with several."""
    one, several = string(255), array(string(255), 0, 100)
    extra: dict[str, Check] = {"filter": anything, "default_to_current_conversation": boolean}
    return {
        f"{name}s_select": _select(
            {f"initial_{name}": one, "response_url_enabled": boolean, **extra}
        ),
        f"multi_{many}_select": _select(
            {f"initial_{many}": several, "max_selected_items": MAX_SELECTED, **extra}
        ),
    }


MENU: dict[str, Check] = {
    "options": array(MENU_OPTION, 1, 100),
    "option_groups": array(OPTION_GROUP, 1, 100),
}
BUTTON = fields(
    {"text": plain(75)},
    {
        "action_id": ID,
        "url": url_string(3000),
        "value": string(2000),
        "style": choice("primary", "danger"),
        "confirm": CONFIRM,
        "accessibility_label": string(75),
    },
)
IMAGE = fields({"image_url": url_string(3000), "alt_text": string(2000)})

MENUS: dict[str, Check] = {
    "static_select": check_then(_select({**MENU, "initial_option": MENU_OPTION}), _menu_problems),
    "multi_static_select": check_then(
        _select(
            {
                **MENU,
                "initial_options": array(MENU_OPTION, 1, 100),
                "max_selected_items": MAX_SELECTED,
            }
        ),
        _menu_problems,
    ),
    "external_select": _select(
        {"initial_option": MENU_OPTION, "min_query_length": integer(0, 100)}
    ),
    **_slack_menus("user", "users"),
    **_slack_menus("conversation", "conversations"),
    **_slack_menus("channel", "channels"),
    "radio_buttons": check_then(
        fields(
            {"options": array(LIST_OPTION, 1, 10)},
            {**CHOICE_KEYS, "initial_option": LIST_OPTION},
        ),
        _menu_problems,
    ),
    "checkboxes": check_then(
        fields(
            {"options": array(LIST_OPTION, 1, 10)},
            {**CHOICE_KEYS, "initial_options": array(LIST_OPTION, 1, 10)},
        ),
        _menu_problems,
    ),
    "datepicker": _select(
        {"initial_date": string_matching(is_date, "must be a date in the format YYYY-MM-DD")}
    ),
    "timepicker": _select(
        {
            "initial_time": string_matching(is_time, "must be a time in the format HH:mm"),
            "timezone": string(255),
        }
    ),
}
DATETIME: dict[str, Check] = {
    "datetimepicker": fields(
        {},
        {
            **CHOICE_KEYS,
            "initial_date_time": integer(1_000_000_000, 9_999_999_999),
        },
    )
}


RICH_TEXT_INPUT: dict[str, Check] = {
    "rich_text_input": fields(
        {}, {**TEXT_INPUT_KEYS, "initial_value": by_type({"rich_text": RICH_TEXT})}
    )
}
FILE_INPUT: dict[str, Check] = {
    "file_input": fields(
        {},
        {"action_id": ID, "filetypes": array(string(255), 1, 100), "max_files": integer(1, 10)},
    )
}
OVERFLOW = fields(
    {"options": array(_option(plain(75), url=url_string(3000)), 1, 5)},
    {"action_id": ID, "confirm": CONFIRM},
)
