"""Several runs beside the probability of a collapse: shares by hand and by Fisher's test, kept runs, Ctrl-C."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from coherence.base.errors import UsageError
from coherence.cli._run import run
from coherence.language.reading import read_text
from coherence.simulate.testbed import repeated as repetitions
from coherence.simulate.testbed import reproduction
from coherence.simulate.testbed.predict import FRESH, fresh, simulated
from coherence.simulate.testbed.repeated import (
    CollapseShare,
    KeptReproductions,
    Repetition,
    SeenRun,
    as_json,
    predicted_share,
    repeated,
    text,
)
from coherence.simulate.testbed.set_up import RunTiming, SetUp, course, set_up
from tests.simulate.testbed.testbed_helpers import installed

EDGE = """coherence: 1
workload: {clients: {rate: 50 req/s, service: {mean: 40 ms, cv: 1}}}
components: {workers: {copies: 4}}
calls: [{from: clients, to: workers, per_try: 250 ms, tries: 3, retry_when: [timeout], on_timeout: abandon}]
"""


@pytest.fixture(scope="module")
def timing() -> RunTiming:
    return course(pause=0.4, lasts=30.0, seed=1)


@pytest.fixture(scope="module")
def setup(timing: RunTiming) -> SetUp:
    return set_up(read_text(EDGE, "d.yaml"), before=timing.before, pause=timing.pause)


def as_simulated(setup: SetUp, timing: RunTiming, made: list[int]) -> Any:
    """A run that does what is predicted from its own draws."""
    made.append(timing.seed)
    return SimpleNamespace(measures=simulated(setup, timing), disturbed="")


def several(*collapsed: bool, disturbed: str = "", predicted: CollapseShare | None = None) -> Repetition:
    ends = {True: ("collapsed", "collapsed", None), False: ("recovered", "recovered", 1.0)}
    runs = tuple(SeenRun(seed, *ends[falls], disturbed) for seed, falls in enumerate(collapsed, 1))
    timing = course(pause=0.4, lasts=30.0, seed=1)
    setup = set_up(read_text(EDGE, "d.yaml"), before=timing.before, pause=timing.pause)
    return Repetition("d.yaml", "nginx", setup, timing, runs, predicted or CollapseShare(200, 400))


def test_shares_that_cannot_be_of_one_kind_do_not_agree() -> None:
    assert several(True, False, True, False).agrees
    sure = several(*[True] * 8, predicted=CollapseShare(0, 400))
    assert not sure.agrees
    assert sure.p_value == pytest.approx(1 / math.comb(408, 8), rel=1e-6)  # all eight collapses among the runs
    assert "not as predicted" in text(sure)


def test_disturbed_runs_are_told_and_not_counted() -> None:
    mixed = several(True, False, disturbed="load 90 ms late")
    assert mixed.observed == CollapseShare(0, 0)
    assert not mixed.agrees
    assert "every run was disturbed" in text(mixed)
    assert text(mixed).count("load 90 ms late") == 2
    assert as_json(mixed)["p_value"] is None


@pytest.mark.slow
def test_fresh_draws_are_those_of_no_run_and_chance_decides_near_the_edge(setup: SetUp, timing: RunTiming) -> None:
    verdicts = [measures.verdict for measures in fresh(setup, timing, 30)]
    assert verdicts[3] == simulated(setup, replace(timing, seed=FRESH + 3)).verdict
    share = predicted_share(setup, timing, 30)
    assert (share.number, share.count) == (verdicts.count("collapsed"), 30)
    assert 0 < share.number < 30
    low, high = share.ends
    assert 0 < low < 100 * share.number / 30 < high < 100


def test_kept_runs_are_not_made_again(setup: SetUp, timing: RunTiming, tmp_path: Path) -> None:
    made: list[int] = []

    def running(own: RunTiming) -> Any:
        return as_simulated(setup, own, made)

    alone = list(repeated(setup, timing, range(1, 5), running, None))
    made.clear()
    two, four = (
        list(repeated(setup, timing, range(1, end), running, KeptReproductions(tmp_path, "sha", "nginx", timing)))
        for end in (3, 5)
    )
    assert (two, four) == (alone[:2], alone)
    assert made == [1, 2, 3, 4]
    for other in (("else", "nginx", timing), ("sha", "envoy", timing), ("sha", "nginx", replace(timing, pause=1.0))):
        with pytest.raises(UsageError, match="holds another reproduction"):
            KeptReproductions(tmp_path, *other)


@pytest.mark.parametrize("damage", ['{"seed": 1}', '{"seed": "1", "verdict": 3}', "{"])
def test_a_damaged_run_is_made_again(setup: SetUp, timing: RunTiming, tmp_path: Path, damage: str) -> None:
    made: list[int] = []
    for _ in range(2):
        store = KeptReproductions(tmp_path, "sha", "nginx", timing)
        list(repeated(setup, timing, [1], lambda own: as_simulated(setup, own, made), store))
        file = tmp_path / "runs.jsonl"
        file.write_text(file.read_text().splitlines()[0] + f"\n{damage}\n")
    assert made == [1, 1]


def test_ctrl_c_shows_the_runs_that_are_done(
    setup: SetUp, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "d.yaml").write_text(EDGE)
    left: Iterator[int] = iter(range(2))

    def running(_folder: Path, _setup: SetUp, _chosen: object, own: RunTiming, **_: object) -> Any:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return as_simulated(setup, own, [])

    monkeypatch.setattr(reproduction, "run", running)
    monkeypatch.setattr(reproduction, "found_binary", lambda _: "nginx")
    monkeypatch.setattr(repetitions, "predicted_share", lambda *_: CollapseShare(12, 20))
    words = ["reproduce", str(tmp_path / "d.yaml"), "--with", "nginx", "--pause", "0.4s", "--for", "30s", "--runs", "4"]
    assert run([*words, "-o", "json"]) == 130
    document = json.loads(capsys.readouterr().out)
    assert [one["seed"] for one in document["runs"]] == [1, 2]
    assert document["collapsed"]["predicted"]["of"] == 20


@pytest.mark.slow
def test_two_real_runs_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    installed("nginx")
    (tmp_path / "d.yaml").write_text(EDGE.replace("50 req/s", "20 req/s"))
    words = ["reproduce", str(tmp_path / "d.yaml"), "--with", "nginx", "--pause", "0.2s", "--for", "5s", "--runs", "2"]
    words += ["--into", str(tmp_path / "kept"), "-o", "json"]
    run(words)
    first = json.loads(capsys.readouterr().out)
    assert [one["verdict"] for one in first["runs"]] == ["recovered"] * 2
    run(words)
    assert json.loads(capsys.readouterr().out) == first
