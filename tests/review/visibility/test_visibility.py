"""What must stay hidden of a call where its arguments are shown outside a chat."""

from __future__ import annotations

import pytest

from hitl_core.review.visibility import visible_args
from tests.support.builders import call, policy, review_of


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        ({"redact": ["/token"]}, {"token": "(hidden)", "to": ["Jo", "Bo"]}),
        ({"redact": ["/to/01"]}, {"token": "s3cret", "to": "(hidden)"}),
        ({"redact": ["/to/" + "9" * 5000]}, {"token": "s3cret", "to": "(hidden)"}),
        ({"redact": ["/to/1"]}, {"token": "s3cret", "to": ["Jo", "(hidden)"]}),
        (
            {"args_schema": {"type": "object", "writeOnly": True}},
            {"token": "(hidden)", "to": "(hidden)"},
        ),
    ],
)
def test_hidden_values_stand_by_their_names(
    rule: dict[str, object], shown: dict[str, object]
) -> None:
    """Given a rule that hides a value, a part of one, or all arguments; then the names stay to be read."""
    asked = [call("pay", token="s3cret", to=["Jo", "Bo"])]
    review, _ = review_of(asked, by=policy(pay=rule))
    assert visible_args(review, review.calls[0]) == shown


@pytest.mark.parametrize("card", ['{"number": "4111"}', "4111", [{"number": "4111"}]])
def test_an_object_with_a_hidden_part_is_hidden_if_it_comes_in_another_form(card: object) -> None:
    asked = [call("pay", card=card, to="Jo")]
    review, _ = review_of(asked, by=policy(pay={"redact": ["/card/number"]}))
    assert visible_args(review, review.calls[0]) == {"card": "(hidden)", "to": "Jo"}
    assert review.hides_values
