"""Runs grow until latencies are told as precisely as asked, and the share that collapses is told."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from coherence.cli._run import run
from coherence.cli._tables import render_reading
from coherence.language.reading import read_text
from coherence.simulate.requests.program import Arrivals, Program, Route, Service, Source, Station
from coherence.simulate.study.pooled_readings import collapse_reading, outcome_notes
from coherence.simulate.study.precision import steady_outcome
from coherence.simulate.study.repeated_runs import Study, StudyReading
from coherence.simulate.study.run_record import RunRecord
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting

QUEUE = """\
coherence: 1
workload: {web: {rate: RATE, service: {mean: 100 ms, cv: 1}}}
components: {s: {copies: 1}}
calls: [{from: web, to: s}]
"""


def told(rate: str, setting: Setting) -> tuple[Study, dict[str, StudyReading]]:
    shown = study(read_text(QUEUE.replace("RATE", rate), "d.yaml"), setting)
    return shown, {reading.what: reading for reading in shown.readings}


@pytest.mark.slow
def test_a_short_run_near_full_load_is_said_to_be_too_short_with_a_time_that_is_enough() -> None:
    _, rows = told("9 req/s", Setting(600.0, seeds=(1, 2, 3, 4, 5)))
    for what in ("mean", "P50", "P95", "P99"):
        assert rows[what].low is None
        assert rows[what].too_short.startswith("--for")
    _, rows = told("9 req/s", Setting(4 * 3600.0, seeds=(1, 2, 3, 4, 5)))
    assert rows["P99"].low is not None


@pytest.mark.slow
def test_runs_grow_until_every_figure_is_as_precise_as_asked() -> None:
    shown, rows = told("7 req/s", Setting(600.0, seeds=(1, 2, 3), precision=0.1, finds_start_up=True))
    assert shown.setting.until > 600
    for what in ("mean", "P50", "P95", "P99"):
        low, high = rows[what].low, rows[what].high
        assert low is not None
        assert high is not None
        assert (high - low) / 2 <= 0.1 * rows[what].value
    assert shown.notes == ()


def test_where_things_happen_at_stated_times_there_are_more_runs_and_not_longer_ones() -> None:
    pauses = (("s", 30.0, 5.0),)
    shown, _ = told("5 req/s", Setting(120.0, seeds=(1, 2, 3), precision=0.15, pauses=pauses))
    assert shown.setting.until == 120
    assert len(shown.setting.seeds) > 3
    assert any("a story of its own" in note for note in shown.notes)


def test_a_start_up_is_left_out_and_told() -> None:
    shown, _ = told("9 req/s", Setting(1200.0, seeds=(1, 2, 3), finds_start_up=True))
    assert 60 < shown.setting.warmup < 300  # three relaxation times of about 36 s
    assert any("start-up" in note for note in shown.notes)


def test_no_start_up_is_looked_for_where_the_warm_up_is_given() -> None:
    shown, _ = told("9 req/s", Setting(1200.0, 10.0, seeds=(1, 2, 3)))
    assert shown.setting.warmup == 10


def test_runs_that_collapse_are_told_apart_from_those_that_hold() -> None:
    source = Source("web", Arrivals(rate=9.0), (("call",),))
    program = Program((source,), (Station("s", 1, Service(0.1)),), (Route("call", "s"),))
    records = [
        RunRecord({("web", "succeed in the last tenth", "%"): late, ("web", "succeed", "%"): late / 2 + 50})
        for late in (100.0, 100.0, 0.0, 100.0, 100.0)
    ]
    (reading,) = collapse_reading("web", records)
    assert (reading.value, round(reading.low or 0, 1), round(reading.high or 0, 1)) == (20.0, 0.5, 71.6)
    (note,) = outcome_notes(program, records)
    assert note == (
        "1 of 5 runs of web collapse, which leaves 0.505 to 71.6 % of all runs (95 %): 50 % of requests (one run: no "
        "interval) succeed in those and 100 % of requests [100, 100] in the others; a mean over runs is like neither"
    )
    assert render_reading(reading) == "1 of 5: 20 % [0.5051 %, 71.64 %]"


def test_runs_beside_each_other_on_both_sides_of_half_are_of_one_kind() -> None:
    """A limit that lets half through was told as runs of two kinds, each with intervals of its own."""
    source = Source("web", Arrivals(rate=9.0), (("call",),))
    program = Program((source,), (Station("s", 1, Service(0.1)),), (Route("call", "s"),))
    for late, fallen in (((49.0, 52.0, 51.0), []), ((49.0, 48.0, 50.5), [3])):
        records = [RunRecord({("web", "succeed in the last tenth", "%"): share}) for share in late]
        assert not list(outcome_notes(program, records))
        assert [round(reading.value * 3 / 100) for reading in collapse_reading("web", records)] == fallen


OVERLOAD = """\
coherence: 1
workload: {web: {rate: 40 req/s, service: {mean: 100 ms, cv: 1}}}
components: {s: {copies: 2}}
calls: [{from: web, to: s, per_try: 150 ms, tries: 3, on_timeout: abandon}]
"""


def test_that_nothing_succeeds_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A figure of zero is left out where it says that nothing of its kind happened, but not where it is the news."""
    (tmp_path / "d.yaml").write_text(OVERLOAD)
    run(["simulate", str(tmp_path / "d.yaml"), "--for", "1 min", "--warm-up", "50 s", "--runs", "3"])
    lines = {line[:28].strip(): line[28:].strip() for line in capsys.readouterr().out.splitlines()}
    assert lines["succeed"] == lines["succeed in the last tenth"] == "0 % [0 %, 0 %]"
    assert lines["runs that collapse"].lstrip().startswith("3 of 3: 100 % [29.2")  # 0.025 ** (1/3)


def test_few_runs_say_next_to_nothing_of_how_often_a_design_collapses() -> None:
    source = Source("web", Arrivals(rate=9.0), (("call",),))
    program = Program((source,), (Station("s", 1, Service(0.1)),), (Route("call", "s"),))
    records = [
        RunRecord({("web", "succeed in the last tenth", "%"): late, ("web", "succeed", "%"): late})
        for late in (100.0, 0.0)
    ]
    (note,) = outcome_notes(program, records)
    ends = 100 * (1 - 0.975**0.5), 100 * 0.975**0.5  # closed form: none, or both, of two runs in 2.5 % of cases
    assert f"leaves {ends[0]:.3g} to {ends[1]:.3g} % of all runs" in note


@pytest.mark.parametrize("text", ["5", "0 %", "-1 %", "2 s", "x"])
def test_a_precision_that_is_no_share_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "specs/retry-storm/design.yaml", "--precision", text]) == 2
    assert "--precision" in capsys.readouterr().err


def test_what_was_done_before_somebody_stopped_is_kept() -> None:
    def runs(_setting: Setting) -> Iterable[RunRecord]:
        yield RunRecord({("a", "b", "s"): 1.0})
        raise KeyboardInterrupt

    outcome = steady_outcome(Program((), (), ()), Setting(10.0), runs)
    assert outcome.stopped
    assert outcome.setting.seeds == (1,)
