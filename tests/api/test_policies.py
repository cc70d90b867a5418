"""Which policy judges the calls of which agent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.api.policies import Policies
from bot.web.problems import ApiProblem
from hitl_core import PolicyError
from hitl_core.store import RedisStore
from tests.api.client import tool_call
from tests.api.conftest import Open


def test_a_file_judges_for_every_agent(tmp_path: Path):
    file = tmp_path / "policy.yaml"
    file.write_text("default: deny\n")

    policies = Policies.load(str(file))

    assert policies.for_agent("billing") is policies.for_agent("support")
    assert policies.for_agent("billing").default.kind == "deny"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A policy for `billing`; and things beside it that are nobody's."""
    folder = tmp_path / "policies"
    (folder / "deeper").mkdir(parents=True)
    for name in ("policies/billing", "policies/.hidden", "policies/deeper/support", "outside"):
        (tmp_path / f"{name}.yaml").write_text("default: review\n")
    (folder / "notes.txt").write_text("no policy")
    return folder


def test_a_folder_has_one_for_each_agent(folder: Path):
    assert Policies.load(str(folder)).for_agent("billing").default.kind == "review"


@pytest.mark.parametrize(
    "agent",
    ["", ".", "..", "../outside", "deeper/support", ".hidden", "billing.yaml", "Billing", "*",
     "billing\0", "/etc/passwd", "notes", "billing/", "./billing"],
)  # fmt: skip
def test_no_other_name_reaches_a_file(folder: Path, agent: str):
    with pytest.raises(ApiProblem, match=r"\.yaml was not in the folder") as caught:
        Policies.load(str(folder)).for_agent(agent)

    assert caught.value.code == "no_policy_for_agent"


def test_a_wrong_file_among_them_stops_the_start(folder: Path):
    (folder / "wrong.yaml").write_text("default: perhaps\n")

    with pytest.raises(PolicyError, match=r"HITL_POLICY: .*wrong\.yaml:1"):
        Policies.load(str(folder))


@pytest.mark.parametrize("name", ["nothing.yaml", "empty"])
def test_nothing_there_stops_the_start(tmp_path: Path, name: str):
    (tmp_path / "empty").mkdir()

    with pytest.raises(PolicyError, match=f"HITL_POLICY: .*{name}"):
        Policies.load(str(tmp_path / name))


def test_without_a_setting_there_is_none():
    with pytest.raises(ApiProblem, match="Set HITL_POLICY") as caught:
        Policies.load("").for_agent("billing")

    assert caught.value.code == "no_policy"


async def test_a_file_that_is_swapped_between_two_starts_is_in_the_audit(
    open_api: Open, store: RedisStore, tmp_path: Path
):
    """T69. Given a server that starts again with another file; then the audit has the change once, with both
    hashes, from the first submit on."""
    file, hashes = tmp_path / "policy.yaml", list[str]()
    for number, text in enumerate(("default: review\n", "default: allow\n")):
        file.write_text(text)
        policies = Policies.load(str(file))
        hashes.append(policies.for_agent("billing").hash)
        client = await open_api(policies=policies)
        for turn in ("a", "b"):
            assert (await client.submit(tool_call(), turn=f"{number}{turn}")).status == 201

    lines = [json.loads(entry.line) for entry in await store.ledger.entries(0)]
    rows = [line for line in lines if line["kind"] == "policy_changed"]
    assert [(row["agent"], row["before"], row["policy_hash"]) for row in rows] == [
        ("billing", *hashes)
    ]
