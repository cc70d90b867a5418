"""What every store promises. A subclass of `StoreContract` gives the fixtures, and runs all tests."""

import pytest

pytest.register_assert_rewrite(
    *(
        f"{__name__}.{part}"
        for part in (
            "audiences",
            "audit",
            "cards",
            "dead_letters",
            "digests",
            "hints",
            "history",
            "jobs",
            "key_values",
            "lanes",
            "review_lists",
            "reviews",
        )
    ),
)

from hitl_core.store import Store  # noqa: E402
from tests.store.contract.audiences import AudiencesContract  # noqa: E402
from tests.store.contract.audit import AuditContract  # noqa: E402
from tests.store.contract.cards import CardsContract  # noqa: E402
from tests.store.contract.dead_letters import DeadLettersContract  # noqa: E402
from tests.store.contract.digests import DigestsContract  # noqa: E402
from tests.store.contract.hints import HintsContract  # noqa: E402
from tests.store.contract.history import HistoryContract  # noqa: E402
from tests.store.contract.jobs import JobsContract  # noqa: E402
from tests.store.contract.key_values import KeyValuesContract  # noqa: E402
from tests.store.contract.lanes import LanesContract  # noqa: E402
from tests.store.contract.review_lists import ReviewListsContract  # noqa: E402
from tests.store.contract.reviews import ReviewsContract  # noqa: E402
from tests.store.steps import Pass  # noqa: E402

__all__ = ["Pass", "StoreContract"]


class StoreContract(
    ReviewsContract,
    CardsContract,
    AuditContract,
    AudiencesContract,
    ReviewListsContract,
    KeyValuesContract,
    HintsContract,
    LanesContract,
    JobsContract,
    DigestsContract,
    DeadLettersContract,
    HistoryContract,
):
    """`hitl_core.store.Store` says what is promised; each promise has a test here."""

    @pytest.fixture
    def store(self) -> Store:
        raise NotImplementedError

    @pytest.fixture
    def let_pass(self) -> Pass:
        raise NotImplementedError
