"""The limits of a form's page in Teams."""

from ....forms import FormLimits

#: The limits of one page of a form in a card.
TEAMS_LIMITS = FormLimits(
    page_fields=10,
    page_bytes=21_500,
    option_bytes=40,
    text=3_000,
    options=60,
    title=80,
)
