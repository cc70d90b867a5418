"""What one page of a form can have in a modal of Slack."""

from __future__ import annotations

import re

from ...forms import FormLimits

MODAL_LIMITS = FormLimits(
    page_fields=45,  # a view has 100 blocks
    page_bytes=180_000,  # a view has 250 kB of JSON
    text=3000,  # docs.slack.dev/reference/block-kit/block-elements/plain-text-input-element
    options=500,
    title=24,
    option_label=75,
    formats={
        # Slack's own inputs accept less than a schema's format allows.
        "email": re.compile(r"|[!-?A-~]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"),
        "uri": re.compile(r"https?://[A-Za-z0-9.-]+(?::\d+)?(?:/[!-~]*)?"),
    },
)
