"""The two worked systems, from YAML, in execution, linear and solver reading; every number of theirs."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.checking.design_check import analyse
from coherence.findings.finding import Finding, Verdict
from coherence.language.reading import read_text
from coherence.loops.designs.linear import linearise
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.exact import Choices, execute
from coherence.simulate.execute.orbits import Orbit, long_run

FEED = """
coherence: 1
components:
  power: {{state: "p' = 0.8 * p + 0.2 * (10 kW + batch.load)", step: 1 s, from: 0 kW .. 60 kW}}
loops:
  throttle:
    rank: 1
    timescale: {{period: 1 s{lands}}}
    trigger: {{enter: p >= 80 kW, leave: p <= 60 kW}}
    actuation: {{}}
  backfill:
    rank: 2
    timescale: {{period: 1 s{lands}}}
    rules: [{{when: throttle, by: -20 kW}}, {{when: p < {h} kW, by: 5 kW}}]
    actuation: {{signal: batch.load, bounds: [0 kW, 200 kW], from: 0 kW}}
promises: {{calm: never throttle, cap: always p <= 100 kW, below: always p <= 95 kW}}
"""


def feed(h: str = "85", *, lands: bool = False) -> Model:
    """Throttle against backfill as the page writes it: the throttle decides, backfill carries it out."""
    return elaborate(read_text(FEED.format(h=h, lands=", lands: 1 s" if lands else "")))


def orbit(model: Model, order: tuple[str, ...] = (), phases: dict[str, Fraction] | None = None) -> Orbit:
    found = long_run(model, Choices({"power.p": Fraction(0)}, phases or {}, order), laps=300).orbit
    assert found is not None
    return found


def switched_on(model: Model, until: int, start: int = 0) -> list[int]:
    run = execute(model, Choices({"power.p": Fraction(start)}), until=Fraction(until))
    return [int(i.time) for i in run for name, on in i.switched if name == "throttle" and on]


def test_the_throttle_comes_on_at_steps_18_38_and_58() -> None:
    assert switched_on(feed(), 60) == [18, 38, 58]


def test_the_orbit_has_period_20_and_its_printed_ends() -> None:
    found = orbit(feed())
    low, high = found.range_of("power.p")
    assert found.period == 20
    assert not found.exact
    assert found.contraction < 1
    assert float(low) / 1000 == pytest.approx(44.46484, abs=5e-6)
    assert float(high) / 1000 == pytest.approx(81.68121, abs=5e-6)
    assert [int(x) for x in found.range_of("batch.load")] == [10_000, 90_000]


def test_the_first_dips_of_the_entering_run() -> None:
    run = execute(feed(), Choices({"power.p": Fraction(0)}), until=Fraction(60))
    values = [float(i.sampled["power.p"]) / 1000 for i in run]
    dips = [b for a, b, c in zip(values, values[1:], values[2:], strict=False) if a > b < c]
    assert dips[0] == pytest.approx(44.21301, abs=5e-6)
    assert dips[1] == pytest.approx(44.46194, abs=5e-6)


def test_the_safe_design_settles_at_50_and_40() -> None:
    found = orbit(feed("30"))
    assert found.still
    assert [int(x) for x in found.range_of("power.p")] == [50_000, 50_000]
    assert [int(x) for x in found.range_of("batch.load")] == [40_000, 40_000]


@pytest.mark.parametrize(("h", "fights"), [("60.4398", False), ("60.43980466", True), ("54", False)])
def test_the_edge_is_where_the_page_says(h: str, fights: bool) -> None:
    assert bool(switched_on(feed(h), 300)) is fights


def test_below_54_power_ends_at_75_or_less() -> None:
    assert orbit(feed("54")).range_of("power.p")[1] <= 75_000


HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    ("order", "lands", "phases", "period"),
    [
        (("throttle", "backfill"), False, {}, 20),
        (("backfill", "throttle"), False, {}, 25),
        (("throttle", "backfill"), True, {}, 25),
        (("backfill", "throttle"), True, {}, 27),
        ((), False, {"backfill": HALF}, 25),
        ((), False, {"throttle": HALF}, 20),
    ],
)
def test_orders_landing_and_phase(
    order: tuple[str, ...], lands: bool, phases: dict[str, Fraction], period: int
) -> None:
    assert orbit(feed(lands=lands), order, phases).period == period


def findings(text: str, *, repairs: bool = False) -> dict[tuple[str, str], Finding]:
    """(code, first name) -> finding, of promises."""
    design = read_text(text, "d.yaml")
    answers = analyse(
        design, {"d.yaml": text}, lambda s: read_text(s["d.yaml"], "d.yaml"), select=["COH220"], verify_repairs=repairs
    )
    return {(f.code, f.of[0]): f for f in answers.findings}


@pytest.mark.slow
def test_the_solver_proves_the_safe_design_and_refutes_the_fighting_one() -> None:
    safe, fighting = findings(FEED.format(h="30", lands="")), findings(FEED.format(h="85", lands=""), repairs=True)
    assert safe["COH220", "calm"].verdict is Verdict.PROVED
    assert safe["COH220", "calm"].evidence.certificate
    conflict = fighting["COH220", "calm"]
    assert conflict.verdict is Verdict.CONFLICT
    assert conflict.evidence.replayed
    assert conflict.evidence.numbers["period"][0] == 20
    assert conflict.repairs
    assert all("proved" in repair.verified for repair in conflict.repairs)
    assert fighting["COH220", "cap"].verdict is Verdict.PROVED
    assert fighting["COH220", "below"].verdict is Verdict.PROVED


@pytest.mark.slow
@pytest.mark.parametrize("h", ["56", "58", "60.4398"])
def test_no_margin_is_never_a_conflict(h: str) -> None:
    assert findings(FEED.format(h=h, lands=""))["COH220", "calm"].verdict is not Verdict.CONFLICT


SCALER = """
coherence: 1
components: {{web: {{load: 100, usage: load / replicas}}}}
loops:
  hpa:
    timescale: {{period: 15 s{hold}}}
    target: {{signal: "{signal}", setpoint: 0.5, tolerance: 10 %}}
    actuation: {{signal: web.replicas, law: proportional, bounds: [1, 100000], from: {start}}}
"""


def scaler(delay: int, start: int = 120, hold: int = 0) -> Model:
    """The replica autoscaler with a metric that is `delay` periods old."""
    signal = f"delayed(web.usage, {15 * delay} s)" if delay else "web.usage"
    held = f", hold_down: {15 * hold} s" if hold else ""
    return elaborate(read_text(SCALER.format(signal=signal, start=start, hold=held)))


@pytest.mark.parametrize(
    ("delay", "sequence"),
    [(0, [200, 200, 200]), (1, [200, 334, 334, 200, 120, 120, 200]), (2, [200, 334, 557, 557, 334])],
)
def test_replica_sequences(delay: int, sequence: list[int]) -> None:
    run = execute(scaler(delay), instants=len(sequence))
    assert [int(i.after["web.replicas"]) for i in run] == sequence


def test_two_periods_of_delay_reach_6752() -> None:
    assert 6752 in [int(i.after["web.replicas"]) for i in execute(scaler(2), instants=13)]


def test_the_linear_reading() -> None:
    near = {"web.replicas": Fraction(200)}
    dead_beat, marginal, unstable = (linearise(scaler(d), near) for d in (0, 1, 2))
    assert dead_beat is not None
    assert marginal is not None
    assert unstable is not None
    assert dead_beat.verdict.modulus == 0
    assert marginal.verdict.marginal
    assert marginal.period == pytest.approx(90)
    assert unstable.verdict.unstable
    assert float(unstable.verdict.modulus) == pytest.approx(1.151, abs=5e-4)
    assert unstable.period is not None
    assert unstable.period / 15 == pytest.approx(8.93, abs=5e-3)


def settles(delay: int, start: int, hold: int = 0) -> bool:
    found = long_run(scaler(delay, start, hold), Choices(), laps=200).orbit
    assert found is not None
    assert found.exact
    return found.still


@pytest.mark.slow
def test_which_starts_settle() -> None:
    assert [n for n in range(170, 235) if settles(1, n)] == list(range(181, 223))
    assert [n for n in range(170, 235) if settles(2, n)] == list(range(182, 223))
    assert not any(settles(1, n) for n in range(100, 400, 37) if not 181 <= n <= 222)


@pytest.mark.parametrize(("delay", "periods"), [(1, 1), (2, 3), (3, 5)])
def test_the_smallest_hold_down_that_settles(delay: int, periods: int) -> None:
    starts = (100, 120, 150, 260, 333, 399)
    assert all(settles(delay, n, periods) for n in starts)
    assert not all(settles(delay, n, periods - 1) for n in starts)
