"""The limits of one form page in a channel."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from hitl_core.forms import Kind


@dataclass(frozen=True)
class FormLimits:
    """The limits of one channel.

    - `page_fields`: the most fields of one page;
    - `page_bytes`: the most bytes of one page, with everything that people may enter;
    - `option_bytes`: the bytes of `page_bytes` that one option takes beside its label;
    - `text`: the longest text of one input, in UTF-16 units;
    - `options`: a choice with more options is typed as text;
    - `title`, `label`, `option_label`, `error`: the most characters. If a title is longer, the form repeats
      the tool's name in full;
    - `locked_text`: how much of a locked value is shown, in characters;
    - `formats`: the values that the channel's own input of a kind accepts. A field with another value is a
      text input.
    """

    page_fields: int
    page_bytes: int
    option_bytes: int = 100
    text: int = 3000
    options: int = 500
    title: int = 24
    label: int = 140
    option_label: int = 75
    error: int = 150
    locked_text: int = 800
    formats: Mapping[Kind, re.Pattern[str]] = field(default_factory=dict[Kind, "re.Pattern[str]"])
