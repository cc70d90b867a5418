"""The benchmarks run and write their results. No test depends on how fast anything was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import BENCHMARKS, main
from benchmarks.measures.imports import EXPECTED, dependencies
from benchmarks.measures.teams import TEAMS
from benchmarks.report.chart import svg
from benchmarks.report.figure import Figure
from benchmarks.report.table import table
from benchmarks.support.http_client import open_connection
from benchmarks.support.process import running
from benchmarks.walks.__main__ import AIMS, measure
from benchmarks.walks.__main__ import table as walks_table
from benchmarks.walks.recorder import Recorder
from benchmarks.walks.trips import TRIPS
from hitl_core.model import encode

KEYS = {"name", "unit", "value", "floor", "ratio", "aim", "better"}


def figure(**changed: Any) -> Figure:
    known = {"name": "a", "unit": "ms", "value": 6.0, "floor": 2.0, "aim": 3.0, "better": "lower"}
    return Figure(**{**known, **changed})


@pytest.mark.redis
@pytest.mark.slow  # many processes, each started in a second; "clicks" starts nine
@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_runs_and_writes_its_figures(name: str, tmp_path: Path):
    """Given tiny amounts, when one benchmark runs, then its results are a list of figures."""
    file = tmp_path / "results.json"

    assert main(["--tiny", "--only", name, "--results", str(file)]) == 0

    found = json.loads(file.read_text())
    assert found
    for each in found:
        assert set(each) == KEYS
        assert each["ratio"] == pytest.approx(each["value"] / each["floor"])
        assert each["better"] in ("lower", "higher")


@pytest.mark.slow  # two processes
async def test_the_floor_of_teams_checks_tokens():
    """Given a press with a token of strangers, then the empty app refuses it: it does what the bot does."""
    activity = {"type": "invoke", "name": "adaptiveCard/action"}
    [click] = TEAMS.make_clicks([{"review_id": "r", "activity": activity, "token": "a.b.c"}])

    async with running(TEAMS.program) as program:
        settings = TEAMS.settings(await program.address())
        environment = {**settings, "HITL_REDIS_URL": "redis://127.0.0.1:1"}
        async with (
            running(TEAMS.empty_app, environment=environment) as app,
            open_connection(await app.address()) as connection,
        ):
            assert b"Unauthorized" in await connection.send(click.request, expected=401)


@pytest.mark.parametrize(
    ("changed", "met"),
    [
        ({}, True),
        ({"value": 6.1}, False),
        ({"better": "higher", "value": 5.9}, False),
        ({"better": "higher", "value": 6.0}, True),
        ({"aim": None}, None),
    ],
)
def test_a_figure_meets_its_aim_where_its_ratio_does(changed: dict[str, Any], met: bool | None):
    assert figure(**changed).meets_aim is met


def test_table_and_picture_name_every_figure():
    """Given a figure that misses its aim, when it is drawn, then both say its name, ratio and aim."""
    missed = figure(name="clicks & more", value=8.0)

    assert "✗  clicks & more" in table([missed])
    assert "4.00" in table([missed])
    assert "clicks &amp; more" in svg([missed])
    assert "aim ≤ 3" in svg([missed])


def test_the_wheel_depends_on_four_packages():
    assert dependencies() == EXPECTED


async def test_walks_counts_every_trip():
    """Given a bot in memory, when all trips are made, then each has its figures and its aim in the table."""
    walks = await measure()

    assert list(walks) == list(TRIPS)
    assert all(
        walk.files > walk.repeated and walk.moves >= walk.files - 1 for walk in walks.values()
    )
    lines = walks_table(walks).splitlines()
    assert len(lines) == 1 + len(TRIPS)
    assert set(AIMS) <= set(TRIPS)
    assert sum("≤" in line for line in lines) == len(AIMS)


async def test_a_recorder_counts_calls_between_our_files_alone():
    """Given calls from a test into one file of ours, then that file is counted, and no move into it."""
    with Recorder() as recorder:
        encode({"a": 1})

    assert recorder.walk.files >= 1
    assert recorder.walk.moves == recorder.walk.repeated == 0
