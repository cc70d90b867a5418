"""How much a form can have on one page, as a card in Teams."""

from ....forms import FormLimits

#: What one page of a form can have in a card.
TEAMS_LIMITS = FormLimits(
    page_fields=10,
    page_bytes=21_500,
    option_bytes=40,
    text=3_000,
    options=60,
    title=80,
)
