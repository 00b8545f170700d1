"""`coherence bound DESIGN --measured`: shares, ghost cost, published bands, what to measure next, and errors."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from coherence.base.errors import UsageError
from coherence.cli._run import run
from coherence.language.reading import read_text
from coherence.minimums.bound import Role, Status, Symbol
from coherence.minimums.design_floors import design_floors
from coherence.minimums.losses.bands import BANDS
from coherence.minimums.losses.composition import Leaf, estimate
from coherence.minimums.losses.measured import FloorMeasurement, measurements
from coherence.minimums.losses.report_measured import measured_json, measured_text
from coherence.minimums.losses.samples import mean_range
from coherence.minimums.registry import bounds, entry

DESIGN = """coherence: 1
infrastructure:
  tiers:
    training: {uses: h100_sxm, count: 16384}
prices: {training: 2 usd/h}
"""
OVERHEAD = "training.checkpoint_overhead"
INPUTS = (f"{OVERHEAD}.write=10 s .. 30 s", f"{OVERHEAD}.mtbf=11134.8 s", f"{OVERHEAD}.restart=60 s .. 300 s")


@pytest.fixture
def design(tmp_path: Path) -> str:
    file = tmp_path / "design.yaml"
    file.write_text(DESIGN)
    return str(file)


def options(*texts: str) -> list[str]:
    return [word for text in texts for word in ("--measured", text)]


def measured(capsys: pytest.CaptureFixture[str], design: str, *texts: str) -> list[dict[str, Any]]:
    assert run(["bound", design, *options(*texts), "-o", "json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["designs"][0]["measured"]
    return found


def test_a_measured_loss_is_split_and_priced(capsys: pytest.CaptureFixture[str], design: str) -> None:
    """10 % lost: floor 4.7 % to 9.6 %, so 0.37 % to 5.3 % of 16,384 units at 2 usd/h is recoverable."""
    (one,) = measured(capsys, design, f"{OVERHEAD}=10 %", *INPUTS)
    low, high = one["shares"][-1]["low"], one["shares"][-1]["high"]
    assert (low, high) == (pytest.approx(0.0037, abs=1e-5), pytest.approx(0.05307, abs=1e-5))
    assert one["shares"][0]["low"] + high == pytest.approx(0.1)
    assert one["cost"]["low"] * 3600 == pytest.approx(low * 16384 * 2)
    assert one["cost"]["high"] * 3600 == pytest.approx(high * 16384 * 2)
    assert [worth["input"] for worth in one["value_of_telemetry"]] == ["write", "restart"]
    assert one["published_band"]["denominator"] == "the overhead of recovery"
    assert run(["bound", design, *options(f"{OVERHEAD}=10 %", *INPUTS)]) == 0
    said = capsys.readouterr().out
    assert "46.9% .. 96.3% of the measured" in said
    assert "measuring write narrows it" in said
    assert "usd/h" in said


def test_a_residual_below_zero_names_assumptions_and_has_no_cost(
    capsys: pytest.CaptureFixture[str], design: str
) -> None:
    (one,) = measured(capsys, design, f"{OVERHEAD}=3 %", *INPUTS)
    assert one["shares"][-1]["high"] < 0
    assert {"blocking_checkpoint", "long_work", "unannounced"} <= set(one["violated"])
    assert one["cost"] is None


def test_what_the_design_states_is_not_asked_for(capsys: pytest.CaptureFixture[str], design: str) -> None:
    (one,) = measured(capsys, design, "training.compute_time=54 d", "training.compute_time.operations=3.8e25")
    assert one["shares"][0]["low"] / 86400 == pytest.approx(27.1427, rel=1e-5)
    assert one["shares"][-1]["low"] / 86400 == pytest.approx(54 - 27.1427, rel=1e-5)


def test_a_table_of_durations(capsys: pytest.CaptureFixture[str], design: str, tmp_path: Path) -> None:
    table = tmp_path / "steps.csv"
    table.write_text("1 s,3 s\n3 s,1 s\n")
    for given in ("1 s,3 s;3 s,1 s", f"@{table}"):
        (one,) = measured(capsys, design, "training.barrier_trace=40 %", f"training.barrier_trace.durations={given}")
        assert one["shares"][0]["low"] == pytest.approx(1 / 3)
        assert one["shares"][-1]["low"] == pytest.approx(0.4 - 1 / 3)


def test_ceilings_upper_bounds_and_points_have_no_shares(capsys: pytest.CaptureFixture[str], design: str) -> None:
    texts = ("training.delay_gain_continuous=1 rad/s", "training.delay_gain_continuous.delay=2 s")
    (gain,) = measured(capsys, design, *texts)
    assert (gain["shares"], gain["role"]) == ([], "ceiling")
    assert "above what is possible" in gain["said"][0]
    inputs = [
        f"training.kingman.{text}" for text in ("rate=1 Hz", "load=0.8", "arrival_sigma=1 s", "service_sigma=0.8 s")
    ]
    above, below = (measured(capsys, design, f"training.kingman={value}", *inputs)[0] for value in ("5 s", "3 s"))
    assert "refutes" in above["said"][0]
    assert above["shares"] == below["shares"] == []
    assert below["said"] == ["at least 1.1 s below it"]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (("training",), "is no measurement"),
        (("training.nothing=1",), "names no bound"),
        (("traning.compute_time=1 s",), "did you mean 'training'"),
        (("training.compute_time=54 d",), "add --measured 'training.compute_time.operations=VALUE'"),
        (("training.compute_time=54 B", "training.compute_time.operations=1"), "s expected"),
        (("training.compute_time=2 s .. 1 s", "training.compute_time.operations=1"), "is empty"),
        (("training.compute_time=1 s", "training.compute_time.works=1"), "has no symbol 'works'"),
        (("training.compute_time.operations=1",), "without a measurement"),
        (("training.compute_time=1 s", "training.compute_time=2 s"), "twice"),
        ((f"{OVERHEAD}=110 %", *INPUTS), "never above 100 %"),
        (("training.compute_time=-1 s", "training.compute_time.operations=1"), "never below zero"),
        (("training.compute_time=max 1 s", "training.compute_time.operations=1"), "no worst case: leave out 'max'"),
        ((f"{OVERHEAD}=10 %", f"{OVERHEAD}.write=1 s", f"{OVERHEAD}.mtbf=0 s", f"{OVERHEAD}.restart=0 s"), "mtbf = 0"),
    ],
)
def test_what_is_wrong_is_named(
    capsys: pytest.CaptureFixture[str], design: str, texts: tuple[str, ...], said: str
) -> None:
    assert run(["bound", design, *options(*texts)]) == 2
    assert said in capsys.readouterr().err


def test_a_thing_without_a_price_says_what_to_write(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "design.yaml"
    file.write_text(DESIGN.replace("prices: {training: 2 usd/h}\n", ""))
    (one,) = measured(capsys, str(file), f"{OVERHEAD}=10 %", *INPUTS)
    assert one["cost"] == {"missing": "the cost of it needs prices: {training: 2 usd/h}"}


def test_every_band_has_a_denominator_and_a_condition() -> None:
    assert set(BANDS) == {"A", "B", "C", "R", "D"}
    for band in BANDS.values():
        assert 0 < band.low < band.high < 1
        assert f"of {band.denominator}" in band.sentence
        assert band.holds in band.sentence


def test_only_floors_are_composed() -> None:
    """A largest gain or a best interval is no floor of anything, however exact it is."""
    assert {bound.role for bound in bounds()} == set(Role)
    for bound in bounds():
        if bound.role is not Role.FLOOR:
            spans = {name: (value, value) for name, value in bound.examples[0].inputs.items()}
            with pytest.raises(UsageError, match="not a floor"):
                estimate(Leaf(bound, spans))
    assert not entry("tail_budget").bound.stands
    assert entry("tail_budget").bound.kind is Status.EXACT


def test_samples_give_a_range_whose_ends_hold_with_95_percent() -> None:
    """Of 400 runs of correlated readings with mean 5 each end misses about 1 in 20 (within three standard errors)."""
    draw = random.Random(4)  # noqa: S311  (runs of a test)
    low = high = 0
    samples: list[float] = []
    for _ in range(400):
        state, samples = 0.0, []
        for _ in range(240):
            state = 0.5 * state + draw.gauss(0, 1)
            samples.append(5 + state)
        found = mean_range(samples)
        low, high = low + (found[0] > 5), high + (found[1] < 5)
    assert low / 400 < 0.05 + 3 * (0.05 * 0.95 / 400) ** 0.5
    assert high / 400 < 0.05 + 3 * (0.05 * 0.95 / 400) ** 0.5
    assert low + high > 10, "the range is no wider than it has to be"
    with pytest.raises(UsageError, match="at least 24"):
        mean_range(samples[:23])


def test_a_file_of_samples_is_a_measurement(capsys: pytest.CaptureFixture[str], design: str, tmp_path: Path) -> None:
    file = tmp_path / "lost.csv"
    file.write_text("".join(f"{10 + k % 3 - 1} %\n" for k in range(48)))
    (one,) = measured(capsys, design, f"{OVERHEAD}=@{file}", *INPUTS)
    assert one["measured"][0] < 0.1 < one["measured"][1]
    assert one["shares"][-1]["low"] == pytest.approx(one["measured"][0] - one["floor"]["high"])
    assert "95 %" in one["said"][-1]


def split(*texts: str) -> tuple[FloorMeasurement, ...]:
    """The measurements of the design above; ranges are written `low..high` in SI."""

    def read(symbol: Symbol, text: str) -> tuple[Fraction, Fraction]:
        assert symbol.name
        low, _, high = text.partition("..")
        return Fraction(low), Fraction(high or low)

    design = read_text(DESIGN)
    return measurements(texts, design, design_floors(design), read)


PLAIN = (f"{OVERHEAD}.write=20", f"{OVERHEAD}.mtbf=10000", f"{OVERHEAD}.restart=100")


def test_shares_of_a_measurement_add_up_to_it() -> None:
    (row,) = split(f"{OVERHEAD}=1/5", *PLAIN)
    assert row.measured == (Fraction(1, 5), Fraction(1, 5))
    assert row.shares is not None
    assert not row.shares.violated
    assert float(sum(share.low for share in row.shares.shares)) == pytest.approx(0.2)
    assert row.cost is not None
    assert float(row.cost.low) == pytest.approx(float(row.shares.recoverable.low) * 16384 * 2 / 3600)


def test_a_measurement_below_its_floor_refutes_an_assumption_and_costs_nothing() -> None:
    (row,) = split(f"{OVERHEAD}=1/1000", *PLAIN)
    assert row.shares is not None
    assert row.shares.recoverable.high < 0
    assert row.shares.violated
    assert row.cost is None


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ((f"{OVERHEAD}=1/5", f"{OVERHEAD}=1/4"), "is measured twice"),
        ((f"{OVERHEAD}=1/5", PLAIN[0], PLAIN[0]), "is measured twice"),
        (PLAIN, "without a measurement: add --measured"),
    ],
)
def test_measurements_that_do_not_fit_are_refused(texts: tuple[str, ...], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        split(*texts)


def test_a_measurement_as_text_and_json_carries_the_same_numbers() -> None:
    (row,) = split(f"{OVERHEAD}=1/5", *PLAIN)
    lines, data = list(measured_text((row,))), measured_json(row)
    assert lines[0] == "\ntraining: share of time lost at the best interval measured 0.2"
    assert data["measured"] == [0.2, 0.2]
    assert row.shares is not None
    recoverable = float(row.shares.shares[-1].low)
    assert data["shares"][-1]["low"] == recoverable
    assert any(f"({recoverable / 0.2:.1%} of the measured)" in line for line in lines)
    assert any("usd/h" in line for line in lines)
    assert data["cost"]["low"] * 3600 == pytest.approx(recoverable * 16384 * 2)


FAILOVER = tuple(f"training.failover_time.{text}" for text in ("period=10 s", "delay=1 s", "takeover=5 s"))


def test_a_run_refutes_no_worst_case_and_the_largest_over_all_runs_does(
    capsys: pytest.CaptureFixture[str], design: str, tmp_path: Path
) -> None:
    """A process that fails at a random time is replaced after 11 s on average; the worst is 16 s."""
    (run_of_many,) = measured(capsys, design, "training.failover_time=11 s", *FAILOVER)
    assert run_of_many["shares"] == run_of_many["violated"] == []
    assert "refutes nothing" in run_of_many["said"][0]
    (largest,) = measured(capsys, design, "training.failover_time=max 11 s", *FAILOVER)
    assert "silent_crash" in largest["violated"]
    assert "crash_faults" not in largest["violated"], "other faults take no less"
    samples = tmp_path / "failovers.csv"
    samples.write_text("".join(f"{6 + k % 10} s\n" for k in range(30)))
    (seen,) = measured(capsys, design, f"training.failover_time=@{samples}", *FAILOVER)
    assert (seen["measured"], seen["shares"]) == ([15, 15], [])
    (above,) = measured(capsys, design, "training.failover_time=20 s", *FAILOVER)
    assert above["shares"][-1]["low"] == 4


def test_measurements_below_several_floors_have_one_smallest_explanation(
    capsys: pytest.CaptureFixture[str], design: str
) -> None:
    exchanges = [
        f"training.{name}{text}"
        for name in ("all_reduce_end_point", "all_to_all")
        for text in ("=1 ms", ".n=64", ".size=8 GB", ".bandwidth=50 GB/s")
    ]
    assert run(["bound", design, *options(*exchanges)]) == 0
    said = capsys.readouterr().out
    assert "all measurements below their floors are explained by: one_attachment; or uncompressed" in said
