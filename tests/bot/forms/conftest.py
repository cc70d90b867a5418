"""A bot with forms, in a channel made for these tests."""

from __future__ import annotations

import pytest

from tests.bot.forms.world import World


@pytest.fixture
def world() -> World:
    return World()
