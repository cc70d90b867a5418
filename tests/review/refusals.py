"""`with refused(code, words):` the block raises Refused with this code and these words."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import pytest

from hitl_core.errors import Refused


@contextmanager
def raises_refused(code: str, said: str = "") -> Generator[None, None, None]:
    with pytest.raises(Refused) as caught:
        yield
    assert (caught.value.code, said in str(caught.value)) == (code, True), str(caught.value)
