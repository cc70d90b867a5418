"""In an editable install `hitl_slack_sandbox` is the folder `slack_sandbox`, as it is in the wheel."""

from pathlib import Path

__path__ = [str(Path(__file__).parents[2] / "slack_sandbox")]
