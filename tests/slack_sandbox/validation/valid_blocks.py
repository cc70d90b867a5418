"""Valid blocks at their limits."""

from __future__ import annotations

from tests.slack_sandbox.samples import actions, button, field, mrkdwn, option, plain
from tests.slack_sandbox.validation.blocks import (
    Json,
    confirm,
    context,
    image,
    number_input,
    raw,
    rich,
    section,
    select,
    table,
    text_input,
)

#: Not in modals.
TABLES: dict[str, Json] = {
    "table of 100 rows": table(*[[raw("x")]] * 100),
    "table of 20 columns": table([raw("x")] * 20, column_settings=[{"align": "right"}] * 20),
    "table of 10,000 characters": table(
        [raw("x" * 4000), raw("x")], [raw("x" * 3000), raw("x" * 2999)]
    ),
    "table with wrapped columns": table([raw("x")], column_settings=[{"is_wrapped": True}]),
}
SOUND: dict[str, Json] = {
    "header of 150": {"type": "header", "text": plain("x" * 150)},
    "section of 3000": section(mrkdwn("x" * 3000)),
    "10 fields of 2000": section(fields=[mrkdwn("x" * 2000)] * 10),
    "section with a button": section(mrkdwn("x"), accessory=button()),
    "divider": {"type": "divider"},
    "image": image(title=plain("x" * 2000)),
    "10 context elements": context(*[mrkdwn("x")] * 9, image()),
    "25 buttons": actions(*[button(str(i)) for i in range(25)]),
    "button at its limits": actions(
        button(
            text=plain("x" * 75),
            value="x" * 2000,
            url="https://x.example/" + "x" * 2900,
            accessibility_label="x" * 75,
            style="danger",
            confirm=confirm(title=plain("x" * 100), text=mrkdwn("x" * 300)),
        )
    ),
    "overflow of 5": actions(select("overflow", 5)),
    "select of 100": actions(select("static_select", 100, placeholder=plain("x" * 150))),
    "initial option": actions(select("static_select", 3, initial_option=option("1"))),
    "initial option with defaults written out": actions(
        select(
            "static_select", 3, initial_option={"text": {**plain("1"), "emoji": True}, "value": "1"}
        )
    ),
    "100 groups of 100": field(
        "g",
        {
            "type": "multi_static_select",
            "max_selected_items": 100,
            "option_groups": [
                {"label": plain("x" * 75), "options": [option(f"{g}.{i}") for i in range(100)]}
                for g in range(100)
            ],
            "initial_options": [option("99.99")],
        },
    ),
    "radio of 10": field("r", select("radio_buttons", 10, initial_option=option("9"))),
    "checkboxes of 10": field("c", select("checkboxes", 10, initial_options=[option("2")])),
    "text input at its limits": text_input(
        initial_value="x" * 3000, max_length=3000, min_length=0, placeholder=plain("x" * 150)
    ),
    "label and hint of 2000": {
        **text_input(),
        "label": plain("x" * 2000),
        "hint": plain("x" * 2000),
    },
    "number input": number_input(min_value="1", max_value="9", initial_value="9"),
    "decimal": number_input(is_decimal_allowed=True, initial_value="-0.50"),
    "date": field("d", {"type": "datepicker", "initial_date": "2028-02-29"}),
    "time": field("d", {"type": "timepicker", "initial_time": "23:59"}),
    "datetime": actions({"type": "datetimepicker", "initial_date_time": 1_795_000_000}),
    "email": field("e", {"type": "email_text_input", "initial_value": "jo@example.com"}),
    "url": field("u", {"type": "url_text_input"}),
    "rich text": rich(
        {
            "type": "rich_text_section",
            "elements": [
                {"type": "text", "text": "x", "style": {"bold": True}},
                {"type": "user", "user_id": "U1"},
                {"type": "date", "timestamp": 1_795_000_000, "format": "{time}", "fallback": "x"},
            ],
        },
        {
            "type": "rich_text_preformatted",
            "border": 0,
            "elements": [{"type": "text", "text": "x"}],
        },
    ),
    "ids of 255": actions(button("x" * 255), block_id="y" * 255),
}
