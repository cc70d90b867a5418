"""The limits of Slack's modals."""

import re

from ....forms import FormLimits

#: The limits of a form page in a modal.
MODAL_LIMITS = FormLimits(
    page_fields=45,  # a view has 100 blocks
    page_bytes=210_000,  # a view has 250 kB of JSON
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
#: More options are shown in groups; this is also the maximum number of groups.
MAX_OPTIONS = 100
MAX_CHECKBOXES = 10
#: The longest label and hint of an input.
MAX_LABEL, MAX_HINT = 150, 300
