"""In an editable install `hitl_teams_sandbox` is the folder `teams_sandbox`, as it is in the wheel."""

from pathlib import Path

__path__ = [str(Path(__file__).parents[2] / "teams_sandbox")]
