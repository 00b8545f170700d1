"""A component that is a job has the floors of its failures and saves: from the keys by which `simulate` runs it."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from fractions import Fraction

import pytest

from coherence.door.bound import read_span
from coherence.language.reading import read_text
from coherence.minimums.assumptions import assumption
from coherence.minimums.design_floors import DesignFloor, design_floors
from coherence.minimums.floors import at
from coherence.minimums.losses.measured import measurements
from coherence.minimums.registry import entry
from coherence.minimums.report import design_text
from coherence.simulate.jobs.closed_forms import best_interval
from coherence.simulate.jobs.of_design import jobs_of
from coherence.simulate.jobs.run import simulate

JOB = "coherence: 1\ncomponents:\n  rank: {%s}\n"
WHOLE = "copies: 96, takes: {step: 6 s, checkpoint: 40 s, restart: 4 min, detection: 1 min}, mtbf: 9000 h"
STANDARD_ERRORS = 4  # a mean of many runs is farther off once in 16,000 times


def floors(job: str) -> Mapping[str, DesignFloor]:
    return {one.bound.name: one for one in design_floors(read_text(JOB % job))}


def test_a_job_has_the_floors_of_its_failures_by_the_nodes_that_carry_it() -> None:
    found = floors(f"{WHOLE}, ranks_per_node: 8")
    assert set(found) == {"checkpoint_overhead", "checkpoint_interval_exact", "job_failure_time"}
    mean = Fraction(9000 * 3600, 12)
    inputs = {"write": Fraction(40), "mtbf": mean, "restart": Fraction(240)}
    for name, of in (
        ("checkpoint_overhead", inputs),
        ("checkpoint_interval_exact", {"write": Fraction(40), "mtbf": mean}),
    ):
        floor = found[name].floor
        assert floor is not None
        assert floor.low == floor.high == at(entry(name).bound, of)
    life = found["job_failure_time"].floor
    assert life is not None
    assert life.low == life.high == mean


def test_a_part_of_a_node_is_a_node() -> None:
    life = floors("copies: 9 .. 17, takes: {step: 1 s}, mtbf: 100 h, ranks_per_node: 8")["job_failure_time"].floor
    assert life is not None
    assert (life.low, life.high) == (Fraction(360_000, 3), Fraction(360_000, 2))


@pytest.mark.parametrize(
    ("job", "name", "asked"),
    [
        ("copies: 8, takes: {step: 1 s, checkpoint: 30 s}", "checkpoint_overhead", "takes.restart of rank"),
        ("copies: 8, takes: {step: 1 s, checkpoint: 30 s}", "checkpoint_interval_exact", "mtbf of rank"),
        (f"{WHOLE}, shape: 0.7", "checkpoint_overhead", "`shape` says otherwise"),
        (f"{WHOLE}, shape: 0.7", "job_failure_time", "`shape` says otherwise"),
        ("copies: 8, takes: {step: 1 s, checkpoint: 9 s, snapshot: 1 s, restart: 9 s}, mtbf: 9 h",
         "checkpoint_overhead", "saves beside the next steps"),
        ("copies: 0 .. 8, takes: {step: 1 s}, mtbf: 9 h", "job_failure_time", "copies of rank"),
    ],
)  # fmt: skip
def test_what_is_missing_or_stated_otherwise_is_asked_for(job: str, name: str, asked: str) -> None:
    found = floors(job)[name]
    assert found.floor is None
    assert asked in found.why


def test_what_is_no_job_has_no_floor_of_one() -> None:
    assert floors("copies: 3, takes: {start: 5 s, checkpoint: 9 s}, mtbf: 9 h") == {}


@pytest.mark.slow
def test_no_run_of_the_same_design_beats_its_floor_and_the_best_interval_attains_it() -> None:
    text = (
        "copies: 4, takes: {step: 1 s, checkpoint: 20 s, restart: 30 s, detection: 0 s}, mtbf: 4000 s, work: 15000 step"
    )
    floor = floors(text)["checkpoint_overhead"].floor
    assert floor is not None
    best = round(best_interval(20, 1000))
    for interval in (best // 2, best, 2 * best):
        (job,) = jobs_of(read_text(JOB % f"{text}, checkpoint: {interval} s"))
        lost = [1 - 15000 / simulate(job, seed=seed).seconds for seed in range(40)]
        error = STANDARD_ERRORS * statistics.stdev(lost) / len(lost) ** 0.5
        assert statistics.fmean(lost) > float(floor.low) - error
        assert interval != best or statistics.fmean(lost) < float(floor.low) + error + 0.01  # whole seconds, last save


def test_what_is_read_of_a_job_is_named_as_assumed_of_its_floors_alone() -> None:
    assert all("life_of_one_node" in one.assumptions for one in floors(WHOLE).values())
    assert "life_of_one_node" not in entry("checkpoint_overhead").bound.assumptions
    assert f"  life_of_one_node: {assumption('life_of_one_node').says}" in list(
        design_text("d", list(floors(WHOLE).values()))
    )


@pytest.mark.parametrize(
    ("written", "named"),
    [
        ({"rank.checkpoint_overhead": "1 %"}, True),  # the floor of 96 nodes is 5 %: their life may be that of the job
        ({"rank.checkpoint_overhead": "12 %"}, False),
        ({"rank.checkpoint_overhead": "1 %", "rank.checkpoint_overhead.mtbf": "93 h"}, False),
        ({"rank.job_failure_time": "9000 h"}, True),
        ({"rank.job_failure_time": "90 h"}, False),
    ],
)
def test_a_measurement_beyond_the_floor_of_a_job_accuses_what_was_read(written: dict[str, str], named: bool) -> None:
    design = read_text(JOB % WHOLE)
    texts = [f"{where}={value}" for where, value in written.items()]
    (found,) = measurements(texts, design, design_floors(design), read_span)
    assert any(line.startswith("life_of_one_node: ") for line in found.explanation) is named


def test_floors_of_a_job_that_calls_another_ask_for_both_as_one() -> None:
    text = JOB % WHOLE + "  other: {copies: 4, takes: {step: 1 s}}\ncalls: [{from: rank, to: other, carries: 1 MB}]\n"
    own = next(floor for floor in design_floors(read_text(text, "d")) if floor.bound.name == "job_failure_time")
    assert own.floor is None
    assert "rank and other as one job" in own.why
