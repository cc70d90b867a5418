"""Invalid blocks, each with a part of Slack's error text."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from tests.slack_sandbox.samples import actions, button, field, mrkdwn, option, plain
from tests.slack_sandbox.validation.blocks import (
    Json,
    confirm,
    context,
    image,
    number_input,
    raw,
    rich,
    rich_section,
    section,
    select,
    table,
    text_input,
)
from tests.slack_sandbox.validation.valid_blocks import SOUND

BROKEN_TABLES: dict[str, tuple[Json, str]] = {
    "table of 101 rows": (table(*[[raw("x")]] * 101), "no more than 100 items"),
    "table of 21 columns": (table([raw("x")] * 21), "no more than 20 items"),
    "table of 10,001 characters": (table([raw("x" * 9000), raw("x" * 1001)]), "no more than 10000 char"),
    "table without rows": (table(), "no fewer than 1 items"),
    "table with rows of two lengths": (table([raw("x")], [raw("x")] * 2), "same number of cells"),
    "table with an empty cell": (table([raw("")]), "text"),
    "table with another cell": (table([{"type": "mrkdwn", "text": "x"}]), "unsupported type: mrkdwn"),
    "table with another alignment": (
        table([raw("x")], column_settings=[{"align": "justify"}]), "align"
    ),
    "table with more settings than columns": (
        table([raw("x")], column_settings=[{}] * 2), "more `column_settings` than columns"
    ),
}  # fmt: skip
BROKEN: dict[str, tuple[Json, str]] = {
    "no type": ({"text": plain("x")}, "missing required field: type [json-pointer:/blocks/0]"),
    "unknown block": ({"type": "card"}, "unsupported type: card [json-pointer:/blocks/0/type]"),
    "a type that is a list": ({"type": ["divider"]}, "unsupported type: ['divider']"),
    "block_id that is a list": ({"type": "divider", "block_id": []}, "must be a string"),
    "unknown key": (
        {"type": "divider", "text": plain("x")},
        "invalid additional property: text [json-pointer:/blocks/0]",
    ),
    "header of 151": (
        {"type": "header", "text": plain("x" * 151)},
        "must be less than 151 characters [json-pointer:/blocks/0/text/text]",
    ),
    "header in mrkdwn": ({"type": "header", "text": mrkdwn("x")}, "unsupported type: mrkdwn"),
    "header without text": ({"type": "header"}, "missing required field: text"),
    "empty header": ({"type": "header", "text": plain("")}, "must be more than 0 characters"),
    "text that is no object": ({"type": "header", "text": "x"}, "must be an object"),
    "section of 3001": (section(mrkdwn("x" * 3001)), "must be less than 3001 characters"),
    "empty section": (section(), "must define either `text` or `fields`"),
    "11 fields": (section(fields=[mrkdwn("x")] * 11), "no more than 10 items allowed"),
    "no fields": (section(fields=[]), "no fewer than 1 items allowed"),
    "field of 2001": (section(fields=[mrkdwn("x" * 2001)]), "must be less than 2001 characters"),
    "input in a section": (
        section(mrkdwn("x"), accessory={"type": "plain_text_input"}),
        "unsupported type: plain_text_input",
    ),
    "image without alt_text": (
        {"type": "image", "image_url": "https://x.example"},
        "missing required field: alt_text",
    ),
    "alt_text of 2001": (image(alt_text="x" * 2001), "must be less than 2001 characters"),
    "image_url of 3001": (image(image_url="https://" + "x" * 2993), "must be less than 3001"),
    "11 context elements": (context(*[mrkdwn("x")] * 11), "no more than 10 items allowed"),
    "no context elements": (context(), "no fewer than 1 items allowed"),
    "button in context": (context(button()), "unsupported type: button"),
    "26 buttons": (actions(*[button(str(i)) for i in range(26)]), "no more than 25 items allowed"),
    "no buttons": (actions(), "no fewer than 1 items allowed"),
    "two of one action_id": (actions(button(), button()), "`action_id` approve already exists"),
    "text input in actions": (
        actions({"type": "plain_text_input"}),
        "unsupported type: plain_text_input",
    ),
    "number input in actions": (
        actions({"type": "number_input", "is_decimal_allowed": True}),
        "unsupported type: number_input",
    ),
    "button text of 76": (actions(button(text=plain("x" * 76))), "must be less than 76 characters"),
    "button text in mrkdwn": (actions(button(text=mrkdwn("x"))), "unsupported type: mrkdwn"),
    "value of 2001": (actions(button(value="x" * 2001)), "must be less than 2001 characters"),
    "value that is no string": (actions(button(value=1)), "must be a string"),
    "url without a scheme": (actions(button(url="x.example/a")), "must be a valid URL"),
    "image_url with a space": (image(image_url="https://x.example/a b"), "must be a valid URL"),
    "url of 3001": (actions(button(url="x" * 3001)), "must be less than 3001 characters"),
    "style green": (actions(button(style="green")), "must be a valid enum value"),
    "accessibility_label of 76": (
        actions(button(accessibility_label="x" * 76)),
        "must be less than 76 characters",
    ),
    "action_id of 256": (actions(button("x" * 256)), "must be less than 256 characters"),
    "block_id of 256": (actions(button(), block_id="x" * 256), "must be less than 256 characters"),
    "button with options": (
        actions(button(options=[option("1")])),
        "invalid additional property: options",
    ),
    "confirm without deny": (
        actions(button(confirm={"title": plain("t"), "text": plain("t"), "confirm": plain("y")})),
        "missing required field: deny",
    ),
    "confirm title of 101": (
        actions(button(confirm=confirm(title=plain("x" * 101)))),
        "must be less than 101 characters",
    ),
    "confirm text of 301": (
        actions(button(confirm=confirm(text=plain("x" * 301)))),
        "must be less than 301 characters",
    ),
    "confirm deny of 31": (
        actions(button(confirm=confirm(deny=plain("x" * 31)))),
        "must be less than 31 characters",
    ),
    "overflow of 6": (actions(select("overflow", 6)), "no more than 5 items allowed"),
    "overflow of none": (actions(select("overflow", 0)), "no fewer than 1 items allowed"),
    "select of 101": (actions(select("static_select", 101)), "no more than 100 items allowed"),
    "select of nothing": (
        actions({"type": "static_select"}),
        "must define either options or option_groups",
    ),
    "101 groups": (
        actions(
            {
                "type": "static_select",
                "option_groups": [{"label": plain("x"), "options": [option("1")]}] * 101,
            }
        ),
        "no more than 100 items allowed",
    ),
    "option text of 76": (
        actions({"type": "static_select", "options": [option("1", text=plain("x" * 76))]}),
        "must be less than 76 characters",
    ),
    "option text in mrkdwn": (
        actions({"type": "static_select", "options": [option("1", text=mrkdwn("x"))]}),
        "unsupported type: mrkdwn",
    ),
    "option value of 76": (
        actions({"type": "static_select", "options": [option("1", value="x" * 76)]}),
        "must be less than 76 characters",
    ),
    "option description of 76": (
        actions({"type": "static_select", "options": [option("1", description=plain("x" * 76))]}),
        "must be less than 76 characters",
    ),
    "initial option that is not offered": (
        actions(select("static_select", 3, initial_option=option("7"))),
        "initial_option must be an exact match",
    ),
    "initial option with another text": (
        actions(select("static_select", 3, initial_option=option("1", text=plain("one")))),
        "initial_option must be an exact match",
    ),
    "placeholder of 151": (
        actions(select("static_select", 3, placeholder=plain("x" * 151))),
        "must be less than 151 characters",
    ),
    "max_selected_items of 0": (
        field("m", select("multi_static_select", 3, max_selected_items=0)),
        "must be between 1 and 100",
    ),
    "radio of 11": (field("r", select("radio_buttons", 11)), "no more than 10 items allowed"),
    "checkboxes of 11": (field("c", select("checkboxes", 11)), "no more than 10 items allowed"),
    "radio with a placeholder": (
        field("r", select("radio_buttons", 2, placeholder=plain("x"))),
        "invalid additional property: placeholder",
    ),
    "checkboxes with groups": (
        field("c", {"type": "checkboxes", "option_groups": []}),
        "invalid additional property: option_groups",
    ),
    "group of 101": (
        actions(
            {
                "type": "static_select",
                "option_groups": [{"label": plain("x"), "options": [option("1")] * 101}],
            }
        ),
        "no more than 100 items allowed",
    ),
    "group label of 76": (
        actions(
            {
                "type": "static_select",
                "option_groups": [{"label": plain("x" * 76), "options": [option("1")]}],
            }
        ),
        "must be less than 76 characters",
    ),
    "no initial checkboxes": (
        field("c", select("checkboxes", 2, initial_options=[])),
        "no fewer than 1 items allowed",
    ),
    "input without element": (
        {"type": "input", "label": plain("x")},
        "missing required field: element",
    ),
    "input without label": (
        {"type": "input", "element": {"type": "plain_text_input"}},
        "missing required field: label",
    ),
    "label in mrkdwn": ({**text_input(), "label": mrkdwn("x")}, "unsupported type: mrkdwn"),
    "label of 2001": ({**text_input(), "label": plain("x" * 2001)}, "must be less than 2001"),
    "hint of 2001": ({**text_input(), "hint": plain("x" * 2001)}, "must be less than 2001"),
    "button in an input": (field("b", button()), "unsupported type: button"),
    "max_length of 3001": (text_input(max_length=3001), "must be between 1 and 3000"),
    "min_length below 0": (text_input(min_length=-1), "must be between 0 and 3000"),
    "min above max": (text_input(min_length=9, max_length=3), "min_length must not be greater"),
    "empty initial value": (text_input(initial_value=""), "must be more than 0 characters"),
    "initial value of 3001": (text_input(initial_value="x" * 3001), "must be less than 3001"),
    "initial value above max_length": (
        text_input(initial_value="xxxx", max_length=3),
        "initial_value must not be longer than max_length",
    ),
    "initial value null": (text_input(initial_value=None), "must be a string"),
    "number without is_decimal_allowed": (
        field("n", {"type": "number_input"}),
        "missing required field: is_decimal_allowed",
    ),
    "number min as a number": (number_input(min_value=1), "must be a string with a number"),
    "number initial as a number": (number_input(initial_value=1), "must be a string with a number"),
    "number initial in words": (
        number_input(initial_value="one"),
        "must be a string with a number",
    ),
    "number min above max": (
        number_input(min_value="9", max_value="1"),
        "min_value must not be greater than max_value",
    ),
    "number initial above max": (
        number_input(max_value="8", initial_value="9"),
        "initial_value must be between",
    ),
    "number initial with decimals": (number_input(initial_value="1.5"), "must be an integer"),
    "a day that is not": (
        field("d", {"type": "datepicker", "initial_date": "2027-02-29"}),
        "must be a date in the format YYYY-MM-DD",
    ),
    "a time that is not": (
        field("d", {"type": "timepicker", "initial_time": "24:00"}),
        "must be a time in the format HH:mm",
    ),
    "datetime of 9 digits": (
        actions({"type": "datetimepicker", "initial_date_time": 999_999_999}),
        "must be between 1000000000 and 9999999999",
    ),
    "datetime in a section": (
        section(mrkdwn("x"), accessory={"type": "datetimepicker"}),
        "unsupported type: datetimepicker",
    ),
    "email of 3001": (
        field("e", {"type": "email_text_input", "initial_value": "x" * 3001}),
        "must be less than 3001 characters",
    ),
    "rich text without elements": ({"type": "rich_text"}, "missing required field: elements"),
    "rich text in rich text": (rich(rich_section()), "unsupported type: rich_text"),
    "empty rich text": (rich_section({"type": "text", "text": ""}), "must be more than 0"),
    "rich text style blink": (
        rich_section({"type": "text", "text": "x", "style": {"blink": True}}),
        "invalid additional property: blink",
    ),
    "user in preformatted": (
        rich({"type": "rich_text_preformatted", "elements": [{"type": "user", "user_id": "U"}]}),
        "unsupported type: user",
    ),
    "a block that is a string": ("hello", "must be an object"),  # type: ignore[dict-item]
}

_ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@st.composite
def blocks_with_any_value(draw: st.DrawFn) -> Json:
    """A valid block in which one value is replaced by any JSON."""
    block = deepcopy(SOUND[draw(st.sampled_from(sorted(SOUND)))])
    holders: list[Any] = [block]
    for holder in holders:
        inner = holder.values() if isinstance(holder, dict) else holder
        holders += [one for one in inner if isinstance(one, (dict, list)) and one]
    holder = draw(st.sampled_from(holders))
    key = draw(st.sampled_from(list(holder))) if isinstance(holder, dict) else 0
    holder[key] = draw(_ANY_JSON)
    return block
