"""What a hostile reader tries: rounded roots, hidden modes, touched axes, damaged files, numbers far apart."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from coherence.cli._run import run
from coherence.exploring.sweeps import cell_from
from coherence.exploring.swept_numbers import axes
from coherence.loops.identification.oscillation import Oscillation, Silence, oscillation
from coherence.loops.margins.network_margins import margins
from coherence.loops.networks import critical
from coherence.loops.networks.delayed_verdict import verdict
from coherence.loops.networks.network import Block, Coupling, loop, network

# two resonances next to each other: one root pair at +4e-10, which rounding moves to -1.4e-9
TWIN = (1.0, 2.7970685123010515e-07, 1.9999999999999998, 2.7970685123010515e-07, 1.0)
# three of them and a lag: a root pair at +2.8e-8, computed at -5.1e-7
TRIPLE = (
    1.0, 1.0001480218177186, 3.0001514891058045, 3.000299511404024, 3.000302977392148, 3.0001549555744296,
    1.0001514882863438, 1.0000034659881243,
)  # fmt: skip

DESIGN = """\
coherence: 1
system: an autoscaler
workload: {web: {rate: 98 req/s}}
components:
  pool: {rate_per_replica: 40 req/s, usage: web.attempts / (pool.replicas * pool.rate_per_replica)}
loops:
  hpa:
    target: {signal: pool.usage, setpoint: 50 %, tolerance: 10 %}
    timescale: {period: 15 s}
    actuation: {signal: pool.replicas, law: proportional, bounds: [1, 40], from: 4}
"""


class TestRoundedRoots:
    @pytest.mark.parametrize("polynomial", [TWIN, TRIPLE])
    @pytest.mark.parametrize(("gain", "delay"), [(None, 0.0), (-1.0, 0.0), (-1.0, 1.0)])
    def test_a_root_that_rounding_may_move_over_the_axis_is_not_called_stable(
        self, polynomial: tuple[float, ...], gain: float | None, delay: float
    ) -> None:
        block = Block("a", (1e-20,), polynomial, delay)
        couplings = [] if gain is None else [Coupling("a", "a", gain)]
        assert verdict(network([block], couplings)).verdict != "stable"

    def test_a_clear_multiple_root_stays_stable(self) -> None:
        polynomial = tuple(float(c) for c in np.poly([-1.0] * 6))
        assert verdict(network([Block("a", (1.0,), polynomial)])).verdict == "stable"
        assert verdict(loop([1.0], polynomial, 1.0)).verdict == "stable"

    def test_time_constants_twelve_decades_apart_stay_stable(self) -> None:
        polynomial = tuple(float(c) for c in np.poly([-1e6, -1.0, -1e-6]))
        assert verdict(loop([1.0], polynomial, 0.1)).verdict == "stable"


class TestNumbersFarApart:
    @pytest.mark.parametrize(
        ("numerator", "denominator", "gain"),
        [((1e308,), (1e-308, 1.0), -1e308), ((5e-324,), (5e-324, 1.0), -1.0), ((1e154,), (1e-154, 1.0, 1e308), -1e9)],
    )
    def test_overflow_is_undecided(
        self, numerator: tuple[float, ...], denominator: tuple[float, ...], gain: float
    ) -> None:
        made = network([Block("a", numerator, denominator)], [Coupling("a", "a", gain)])
        assert verdict(made).verdict == "undecided"

    def test_no_margins_without_a_limit(self) -> None:
        judged = margins(network([Block("a", (3.0,), (1e20, 1e154))], [Coupling("a", "a", 1.0)]))
        assert judged.stability.verdict == "stable"
        assert judged.margins is None


class TestWindowsOfDelay:
    @pytest.mark.parametrize(
        ("numerator", "denominator"), [([0.1, 0.0], [1.0, 0.2, 0.0]), ([0.1, 0.0, 0.1], [1.0, 3.0, 4.0, 3.0, 3.0])]
    )
    def test_a_hidden_root_on_the_axis_leaves_no_window(self, numerator: list[float], denominator: list[float]) -> None:
        assert critical.delay_windows(numerator, denominator, 30.0) == []

    @pytest.mark.parametrize("change", [0.0, -1e-14, -1e-12, -1e-10, 1e-14, 1e-10])
    @pytest.mark.parametrize("damping", [0.1, 0.01, 0.001])
    def test_a_touch_of_the_axis_loses_no_window(self, damping: float, change: float) -> None:
        gain = 2 * damping * math.sqrt(1 - damping**2) * (1 + change)
        windows = critical.delay_windows([gain], [1.0, 2 * damping, 1.0], 30.0)
        for delay in (0.5, 3.0, 11.0, 26.0):  # between the touches, about 1.6 + 6.3 k
            assert any(low < delay < high for low, high in windows)

    def test_a_root_on_the_axis_without_delay_is_counted_with_some(self) -> None:
        assert critical.delay_windows([1.0], [1.0, 0.0, 0.0], 30.0) == []  # s^2 + 1, then unstable


class TestMargins:
    def test_feedthrough_behind_delays_scales_by_the_loop_not_by_its_root(self) -> None:
        net = network(
            [Block("a", (0.5,), (1.0,), 1.0), Block("b", (0.5,), (1.0,), 1.0)],
            [Coupling("a", "b", -1.0), Coupling("b", "a", 1.0)],
        )
        loop_margins = margins(net, "a").margins
        assert loop_margins is not None
        assert loop_margins.upper_gain == pytest.approx(4.0, rel=1e-6)

    def test_two_incommensurate_delays_about_a_direct_loop(self) -> None:
        net = network(
            [Block("a", (1.0,), (1.0,)), Block("b", (0.1,), (1.0,), 1.0), Block("c", (0.1,), (1.0,), math.sqrt(2))],
            [
                Coupling("a", "a", 0.5), Coupling("a", "b"), Coupling("a", "c"), Coupling("b", "a"),
                Coupling("c", "a"),
            ],
        )  # fmt: skip
        loop_margins = margins(net, "a").margins
        assert loop_margins is not None
        assert loop_margins.upper_gain == pytest.approx(1 / 0.7, rel=1e-6)


class TestSweeps:
    @pytest.mark.parametrize(
        "row",
        [
            {"values": 5},
            {"values": [[1], {}]},
            {"verdict": "banana"},
            {"verdict": [1]},
            {"period": "x"},
            {"period": math.nan},
            {"growth": math.inf},
            {"loops": 7},
            {"why": 5},
        ],
    )
    def test_a_damaged_line_is_no_cell(self, row: dict[str, object]) -> None:
        good = {"values": ["1"], "verdict": "settles", "loops": [], "period": None, "growth": 0.5, "why": ""}
        assert cell_from(good) is not None
        assert cell_from({**good, **row}) is None

    def test_a_damaged_file_is_mended(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        design, store = tmp_path / "design.yaml", tmp_path / "kept.jsonl"
        design.write_text(DESIGN)
        words = ["sweep", str(design), "-p", "loops.hpa.target.setpoint=40 %:60 %:2", "--into", str(store)]
        assert run(words) == 0
        lines = store.read_text().splitlines()
        first = {**json.loads(lines[1]), "verdict": "banana"}
        store.write_text(
            "\n".join([lines[0], json.dumps(first), '{"values": ["40 %"]}', "[" * 100_000, lines[2]]) + "\n"
        )
        capsys.readouterr()
        assert run(words) == 0
        assert "settles 2" in capsys.readouterr().out

    def test_small_and_narrow_ranges_keep_their_digits(self) -> None:
        sources = {"x.yaml": DESIGN}
        (small,) = axes(["loops.hpa.timescale.period=1e-20 s:1e-18 s:3"], sources)
        assert [small.edit(v).new for v in small.values] == ["1e-20 s", "5.05e-19 s", "1e-18 s"]
        (narrow,) = axes(["workload.web.rate=1000000 req/s:1000001 req/s:4"], sources)
        assert len({narrow.edit(v).new for v in narrow.values}) == 4

    def test_an_end_below_every_float_is_refused_on_a_logarithmic_range(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        design = tmp_path / "design.yaml"
        design.write_text(DESIGN)
        assert run(["sweep", str(design), "-p", "workload.web.rate=1e-400 req/s:1 req/s:log:3"]) == 2
        assert "above 0" in capsys.readouterr().err


class TestIdentification:
    @pytest.mark.parametrize("count", [200, 201])
    def test_a_series_that_turns_at_every_sample_has_no_period(self, count: int) -> None:
        found = oscillation([(-1.0) ** k for k in range(count)], 1.0)
        assert isinstance(found, Silence)

    def test_a_period_near_two_samples_is_still_found(self) -> None:
        noise = 0.1 * np.random.default_rng(0).normal(size=300)
        found = oscillation(np.sin(2 * np.pi * np.arange(300) / 2.1) + noise, 1.0)
        assert isinstance(found, Oscillation)
        assert found.period.value == pytest.approx(2.1, rel=1e-2)
