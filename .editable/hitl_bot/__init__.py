"""In an editable install `hitl_bot` is the folder `bot`, as it is in the wheel."""

from pathlib import Path

__path__ = [str(Path(__file__).parents[2] / "bot")]
