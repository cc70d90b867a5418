"""docs/operations.md names every metric. The dashboard and the alert rules use only metrics that a running
bot reports.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from bot.app import running_bot
from bot.settings import Settings
from slack_sandbox.server import running_sandbox
from tests.docs.pages import ROOT, page
from tests.support.bots import QUICK, Scene

promql_parser = pytest.importorskip("promql_parser", reason="needs promql-parser, of `dev`")

DASHBOARD: dict[str, Any] = json.loads((ROOT / "docs" / "grafana.json").read_text("utf-8"))
ALERTS: dict[str, Any] = yaml.safe_load((ROOT / "docs" / "alerts.yaml").read_text("utf-8"))
RULES: list[dict[str, Any]] = [rule for group in ALERTS["groups"] for rule in group["rules"]]
#: Prometheus's own.
OTHERS = {"up"}
DURATION = re.compile(r"\d+[smhd]")


@pytest.fixture
async def metrics(redis_url: str, tmp_path: Path) -> dict[str, tuple[str, str]]:
    """Type and help of each metric of a running bot, by name."""
    async with running_sandbox() as sandbox, aiohttp.ClientSession() as session:
        environment = Scene(sandbox, None, redis_url, tmp_path).environment()  # pyright: ignore[reportArgumentType]
        settings = Settings.from_environment(environment)
        async with (
            running_bot(settings, QUICK) as bot,
            session.get(f"{bot.url}/metrics") as answer,
        ):
            families = list(text_string_to_metric_families(await answer.text()))
    return {each.name: (each.type, each.documentation) for each in families}


def documented() -> dict[str, tuple[str, str]]:
    rows = re.findall(
        r"^\| `(hitl_\w+?)(?:\{\w+\})?` \| (\w+) \| (.*) \|$", page("docs/operations.md").text, re.M
    )
    return {name: (kind, text) for name, kind, text in rows}


def dashboard_queries() -> Iterator[str]:
    for panel in DASHBOARD["panels"]:
        yield from (target["expr"] for target in panel["targets"])


def names_in(query: str) -> set[str]:
    return set(re.findall(r"\b(hitl_\w+|up)\b", query))


async def test_every_metric_has_its_row(metrics: dict[str, tuple[str, str]]) -> None:
    """Names are stable: a metric that is renamed or gone breaks somebody's alert."""
    assert documented() == metrics


async def test_dashboard_and_rules_use_only_what_there_is(
    metrics: dict[str, tuple[str, str]],
) -> None:
    """And the dashboard shows all of it."""
    shown = set[str]().union(*map(names_in, dashboard_queries()))
    watched = set[str]().union(*(names_in(rule["expr"]) for rule in RULES))
    assert shown - OTHERS == set(metrics)
    assert watched - OTHERS <= set(metrics)
    variables = json.dumps(DASHBOARD["templating"])
    assert names_in(variables) <= set(metrics)


@pytest.mark.parametrize("query", [*dashboard_queries(), *(rule["expr"] for rule in RULES)])
def test_each_query_is_promql(query: str) -> None:
    assert names_in(query)
    promql_parser.parse(query.replace("$job", "hitl"))


@pytest.mark.parametrize("query", [*dashboard_queries()])
def test_a_panel_says_no_zero_that_no_bot_reported(query: str) -> None:
    """Where no bot answers, it shows "no data"."""
    assert "vector(" not in query


def test_a_wrong_query_is_found() -> None:
    with pytest.raises(ValueError, match="unclosed"):
        promql_parser.parse("max(hitl_reviews_live")


def test_prometheus_takes_the_rules() -> None:
    """As Prometheus reads a file of rules; by promtool itself where it is installed."""
    assert list(ALERTS) == ["groups"]
    names = [rule["alert"] for rule in RULES]
    assert len(set(names)) == len(names)
    for rule in RULES:
        assert rule.keys() == {"alert", "expr", "for", "labels", "annotations"}
        assert DURATION.fullmatch(rule["for"])
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert rule["annotations"].keys() == {"summary", "description"}
        assert all(isinstance(text, str) for text in rule["annotations"].values())
    if promtool := shutil.which("promtool"):
        file = str(ROOT / "docs" / "alerts.yaml")
        subprocess.run([promtool, "check", "rules", file], check=True, capture_output=True)


def test_grafana_takes_the_dashboard() -> None:
    """The classic model, as its import reads it: no id of another installation, a data source that one
    chooses, panels side by side (grafana.com/docs: Dashboard JSON model)."""
    assert DASHBOARD["id"] is None
    assert re.fullmatch(r"[a-z0-9-]{1,40}", DASHBOARD["uid"])
    assert isinstance(DASHBOARD["schemaVersion"], int)
    assert DASHBOARD["title"]
    variables = {one["name"]: one for one in DASHBOARD["templating"]["list"]}
    assert variables["datasource"]["type"] == "datasource"
    source = {"type": "prometheus", "uid": "${datasource}"}
    assert variables["job"]["datasource"] == source
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    for panel in panels:
        assert panel["type"] in ("stat", "timeseries")
        assert panel["title"]
        assert panel["datasource"] == source
        assert all(target["datasource"] == source for target in panel["targets"])
        letters = [target["refId"] for target in panel["targets"]]
        assert len(set(letters)) == len(letters) > 0
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
    for one, other in itertools.combinations((panel["gridPos"] for panel in panels), 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        below = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert beside or below
