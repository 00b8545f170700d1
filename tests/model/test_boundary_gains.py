"""What boundaries make of commands and readings: laid beside the definitions in ten lines, and beside rates by hand."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from random import Random

import pytest

from coherence.base.errors import InputError
from coherence.checking.weighing import ask_weighed
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.findings.registry import question_modules
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Quantity
from coherence.language.shared_rates import ScaledRate
from coherence.model.elaborate import model_of
from coherence.simulate.execute.exact import execute

MODULES = [m for m in question_modules() if any(q.code in ("COH301", "COH245") for q in m.questions)]


def scaler(wall: str, *, count: str = "landed", inside: str = "none") -> str:
    """A proportional loop at a boundary: no tolerance, no rounding, load of 20 at 100 %, aim 50 %."""
    return f"""coherence: 1
infrastructure: {{boundaries: {{vm: {{around: [pool], {wall}}}}}}}
components: {{pool: {{desired: 0.5 .. 400, load: 20, util: load / desired}}}}
loops:
  hpa:
    inside: {inside}
    target: {{signal: pool.util, setpoint: 50 %}}
    timescale: {{period: 15 s, phase: 0 s}}
    actuation: {{signal: pool.desired, from: 20, bounds: [1, 400.5], count: {count}}}
"""


def findings(text: str) -> dict[str, Finding]:
    return {f.code: f for f in ask_weighed(Subject(read_text(text, "d"), {"d": text}), MODULES)}


def by_definition(
    gain: Fraction, step: Fraction, late: int, count: str, seen: Fraction, samples: int
) -> list[Fraction]:
    """Returns the effect after each sample: what has landed, times the gain, rounded down to a multiple of the step."""

    def effect(command: Fraction) -> Fraction:
        value = gain * command
        return floor(value / step) * step if step else value

    written, effects = [Fraction(20)], []
    for k in range(samples):
        holds = [c for n, c in enumerate(written[1:]) if (n * 15 + late <= k * 15 if late else n < k)]
        landed = holds[-1] if holds else Fraction(20)
        before = written[-1] if count == "commanded" else effect(landed)
        written.append(min(max(before * seen * (20 / effect(landed)) * 2, Fraction(1)), Fraction(801, 2)))
        effects.append(effect(written[-1] if not late else landed))
    return effects


@pytest.mark.parametrize("seed", range(12))
def test_effects_and_readings_are_those_of_the_definition(seed: int) -> None:
    chance = Random(seed)  # noqa: S311
    gain, seen = (Fraction(chance.choice([50, 80, 100, 120]), 100) for _ in range(2))
    step, late, count = chance.choice([0, 1, 3]), chance.choice([0, 10, 16]), chance.choice(["landed", "commanded"])
    keys = [f"gain: {float(gain)}", f"reading_gain: {float(seen)}", f"added_delay: {late} s"]
    text = scaler(", ".join([*keys, *([f"granularity: {step}"] if step else [])]), count=count)
    model = model_of(read_text(text, "d"))
    changed = gain != 1 or step
    assert ("pool.desired" in model.outputs) is bool(changed)
    expected = by_definition(gain, Fraction(step), late, count, seen, 40)
    instants = {instant.time: instant.after for instant in execute(model, until=Fraction(39 * 15))}
    path = "pool.desired.commanded" if changed else "pool.desired"
    commands = [instants[Fraction(k * 15)][path] for k in range(40)]
    effects = [floor(gain * c / step) * step if step else gain * c for c in commands]
    assert effects == expected


def test_a_gain_is_proved_and_its_rest_is_where_the_equation_has_it() -> None:
    landed, commanded = findings(scaler("gain: 50 %"))["COH301"], findings(scaler("gain: 50 %", count="commanded"))
    assert landed.verdict is commanded["COH301"].verdict is Verdict.PROVED
    for count, rest in (("landed", 40), ("commanded", 80)):  # c' = g c * 20 / (g c) * 2, and c * 20 / (g c) * 2
        (*_, last) = execute(model_of(read_text(scaler("gain: 50 %", count=count), "d")), until=Fraction(300))
        assert last.after["pool.desired.commanded"] == rest


def test_a_range_of_gains_is_one_unknown_constant_and_is_proved_as_a_whole_beside_one_of_readings_too() -> None:
    model = model_of(read_text(scaler("gain: 50 % .. 80 %, reading_gain: 90 % .. 110 %"), "d"))
    assert {"vm.gain", "vm.reading_gain"} <= model.constants.keys()
    assert findings(scaler("gain: 50 % .. 80 %"))["COH301"].verdict is Verdict.PROVED
    both = findings(scaler("gain: 50 % .. 80 %, reading_gain: 90 % .. 110 %"))
    assert both["COH301"].verdict is Verdict.PROVED
    for gain, seen in ((50, 90), (50, 110), (80, 90), (80, 110), (65, 100)):
        single = scaler(f"gain: {gain} %, reading_gain: {seen} %")
        instants = execute(model_of(read_text(single, "d")), until=Fraction(1200))
        assert len({instant.after["pool.desired.commanded"] for instant in [*instants][-30:]}) == 1


def test_neutral_gains_and_loops_beside_change_nothing() -> None:
    plain = scaler("kind: virtualization")
    for text in (scaler("gain: 100 %, reading_gain: 100 %"), scaler("gain: 50 %, granularity: 4", inside="vm")):
        other, same = model_of(read_text(text, "d")), model_of(read_text(plain, "d"))
        assert other.loops[0].signal == same.loops[0].signal == "pool.desired"
        assert other.loops[0].trees == same.loops[0].trees


def test_what_two_loops_bring_across_different_boundaries_is_not_lowered_and_not_proved() -> None:
    second = "  other:\n    inside: vm\n    trigger: pool.util > 3\n    timescale: {period: 15 s}\n"
    second += "    actuation: {signal: pool.desired, law: step, by: 1, bounds: [1, 400.5]}\n"
    text = scaler("gain: 50 %") + second
    assert "pool.desired.commanded" not in model_of(read_text(text, "d")).commands
    assert all(finding.verdict is not Verdict.PROVED for finding in findings(text).values())


POOL = """coherence: 1
workload: {r: {rate: 20 req/s}}
infrastructure: {tiers: {h100: {count: 64}}WALL}
components:
  q: {uses: queue, arrivals: r.attempts, served_by: pool}
  pool: {uses: replica_pool, runs_on: h100, rate_per_replica: RATE, takes: {start: 5 s}MORE}
loops:
  hpa:
    inside: none
    target: {signal: q.utilization, setpoint: 70 %, tolerance: 0 %}
    timescale: {period: 15 s}
    actuation: {signal: pool.desired, law: proportional, bounds: [4, 64], from: 20}
"""
CLOUD = ", boundaries: {cloud: {around: [h100], capacity_fraction: 5 %}}"


def pool(rate: str, wall: str = "", more: str = "") -> str:
    return POOL.replace("RATE", rate).replace("WALL", wall).replace("MORE", more)


def test_a_share_of_a_device_is_the_rate_times_the_share() -> None:
    behind, by_hand = findings(pool("1 req/s", CLOUD)), findings(pool("0.05 req/s"))
    assert behind["COH245"].verdict is by_hand["COH245"].verdict is Verdict.CONFLICT
    assert behind["COH245"].message == by_hand["COH245"].message
    assert behind["COH301"].message == by_hand["COH301"].message
    assert findings(pool("1 req/s"))["COH245"].verdict is Verdict.PROVED


def test_a_rate_that_was_measured_inside_is_not_scaled_again() -> None:
    inside = read_text(pool("1 req/s", CLOUD, ", measured_in: cloud"), "d").components["pool"]
    assert not isinstance(inside.constants["rate_per_replica"], ScaledRate)
    with pytest.raises(InputError, match="is no boundary that 'pool' is in"):
        read_text(pool("1 req/s", "", ", measured_in: cloud"), "d")


def test_shares_of_several_boundaries_multiply_and_ranges_stay_ranges() -> None:
    inner, outer = "{around: [h100], capacity_fraction: 50 %}", "{around: [a], capacity_fraction: 20 % .. 40 %}"
    wall = f", boundaries: {{a: {inner}, b: {outer}}}"
    rate = read_text(pool("2 req/s", wall), "d").components["pool"].constants["rate_per_replica"]
    assert isinstance(rate, ScaledRate)
    assert (rate.low, rate.high, rate.share) == (Fraction(1, 5), Fraction(2, 5), None)


def test_a_repair_of_a_scaled_rate_writes_what_is_stated() -> None:
    from coherence.findings.repairs import change

    text = pool("1 req/s", CLOUD)
    design = read_text(text, "d")
    rate = design.components["pool"].constants["rate_per_replica"]
    assert isinstance(rate, ScaledRate)
    edit = change(Subject(design, {"d": text}), rate, Fraction(1, 2))
    assert edit is not None
    assert edit.new == "10 req/s"


@pytest.mark.parametrize(("inside", "share", "there"), [
    ("", "50 %", (50, 50)), ("", "33.3 % .. 50 %", (33, 50)), ("", "100 %", (101, 101)),
    (", measured_in: slices", "50 %", (101, 101)),
])  # fmt: skip
def test_an_engine_has_its_share_of_the_memory_in_whole_blocks(inside: str, share: str, there: tuple[int, int]) -> None:
    text = f"""coherence: 1
infrastructure: {{boundaries: {{slices: {{around: [engine], memory_fraction: {share}}}}}}}
components:
  engine: {{uses: inference_server, blocks: 101 block, step_time: 10 ms, per_prompt_token: 0 s/token{inside}}}
"""
    blocks = read_text(text, "d").components["engine"].constants["blocks"]
    assert isinstance(blocks, Quantity)
    assert (int(blocks.low), int(blocks.high)) == there
