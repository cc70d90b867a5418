"""What every channel must do. A subclass of `ChannelContract` gives the `world`, and runs all tests."""

import pytest

pytest.register_assert_rewrite(
    *(
        f"{__name__}.{part}"
        for part in ("cards", "failures", "forms", "homes", "lookups", "posting")
    )
)

from tests.channels.contract.cards import Cards  # noqa: E402
from tests.channels.contract.failures import Failures  # noqa: E402
from tests.channels.contract.forms import Forms  # noqa: E402
from tests.channels.contract.homes import Homes  # noqa: E402
from tests.channels.contract.lookups import Lookups  # noqa: E402
from tests.channels.contract.posting import Posting  # noqa: E402
from tests.channels.contract.world import Shown, ShownPage, World  # noqa: E402

__all__ = ["ChannelContract", "Shown", "ShownPage", "World"]


class ChannelContract(Posting, Failures, Lookups, Cards, Forms, Homes):
    """`bot.channels.contract.Channel` says what is promised; each promise has a test here."""

    @pytest.fixture
    def world(self) -> World:
        raise NotImplementedError
