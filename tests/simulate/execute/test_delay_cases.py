"""Delays that stand for every delay of a range: any other delay gives the run of one of them."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from coherence.language.design import Design
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.reading import read_text
from coherence.model.elaborate import model_of
from coherence.model.model import Model
from coherence.simulate.execute.delay_cases import at, delay_cases, open_delays, where
from coherence.simulate.execute.exact import execute
from tests.draws import seeds

PAIR = """coherence: 1
infrastructure: {boundaries: {vm: {around: [pool], WALL}}}
components: {pool: {size: 1 .. 90, load: 20, util: load / size}, front: {copies: 1 .. 9}}
loops:
  hpa:
    inside: none
    target: {signal: pool.util, setpoint: 50 %}
    timescale: {period: 6 s, phase: 0 s, LANDS}
    actuation: {signal: pool.size, from: 7, bounds: [1, 90.5], count: commanded}
  follow:
    inside: none
    trigger: "pool.util > 40 % for 8 s"
    timescale: {period: 4 s, phase: PHASE}
    actuation: {signal: front.copies, by: 1, bounds: [1, 900], from: 1}
"""
PHASES = ("0 s", "2 s", "1 s", "2 s")


def traces(model: Model, unit: Fraction, count: int = 60) -> tuple[tuple[Fraction, ...], ...]:
    """Returns what is commanded after each multiple of a unit."""
    signals, values = ("pool.size", "front.copies"), []
    instants = iter(execute(model, until=unit * count))
    now = next(instants, None)
    last: dict[str, Fraction] = {}
    for k in range(count):
        while now is not None and now.time <= k * unit:
            last, now = dict(now.after), next(instants, None)
        row = tuple(Fraction(last.get(signal, 0)) for signal in signals)
        values.append(row)
    return tuple(values)


@pytest.mark.parametrize("seed", seeds(1, 8))
def test_any_delay_gives_the_run_of_one_of_the_delays_that_stand_for_all(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    low, high = sorted(Fraction(random.randint(0, 40), 3) for _ in range(2))
    walls = [f"reading_delay: {float(low):.3f} s .. {float(high + 1):.3f} s"]
    walls += [f"added_delay: {random.choice(['2 s', '0 s .. 5 s'])}"] if seed % 2 else []
    lands = "hold_down: 0 s .. 13 s" if seed % 4 == 0 else "hold_down: 6 s"
    text = PAIR.replace("WALL", ", ".join(walls)).replace("LANDS", lands).replace("PHASE", PHASES[seed % 4])
    model = model_of(read_text(text, "d"))
    delays = open_delays(model)
    cases = delay_cases(model, delays, model_of)
    known = {traces(model_of(case.design), Fraction(1)) for case in cases}
    for _ in range(40):
        share = [Fraction(random.randint(0, 24), 24) for _ in delays]
        chosen = [d.value.low + (d.value.high - d.value.low) * s for d, s in zip(delays, share, strict=True)]
        assert traces(model_of(at(model.design, delays, chosen)), Fraction(1)) in known


def test_a_case_stands_at_each_multiple_and_between_two() -> None:
    text = PAIR.replace("WALL", "reading_delay: 1 s .. 7 s").replace("LANDS", "hold_up: 0 s").replace("PHASE", "0 s")
    model = model_of(read_text(text, "d"))
    cases = delay_cases(model, open_delays(model), model_of)
    assert [case.values for case in cases] == [(Fraction(n, 2),) for n in (2, 3, 4, 6, 8, 10, 12, 13, 14)]


@pytest.mark.parametrize(
    ("hits", "words"),
    [
        ([0, 0, 1, 1, 1], "from 2 s on"),
        ([0, 0, 0, 1, 1], "above 2 s"),
        ([1, 1, 1, 0, 0], "up to 2 s"),
        ([1, 1, 0, 0, 0], "below 2 s"),
        ([0, 0, 1, 0, 0], "at 2 s"),
        ([0, 1, 0, 0, 1], "between 0 s and 2 s or from 4 s on"),
        ([0, 1, 1, 0, 0], "between 0 s and 2 s, one included"),
    ],
)
def test_the_part_of_a_range_is_told_with_its_ends(hits: list[int], words: str) -> None:
    assert where([Fraction(n) for n in range(5)], [bool(hit) for hit in hits]) == words


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("load: 20,", 'load: "mean_over(size, 9 s)",', "a mean over time depends on the very delay"),
        ("phase: 0 s", "phase: 1 s .. 2 s", None),
        ("phase: 0 s, ", "", "beside open delays: state `phase`"),
        ("front: {", 'tank: {state: "level\' = pool.size / 1 s", from: 0}, front: {', "flows"),
    ],
)
def test_what_depends_on_the_very_delay_is_refused(old: str, new: str, reason: str | None) -> None:
    text = PAIR.replace("WALL", "added_delay: 0 s .. 5 s, reading_delay: 0 s .. 3 s").replace("LANDS", "lands: 1 s")
    model = model_of(read_text(text.replace("PHASE", "0 s"), "d"))
    assert delay_cases(model, open_delays(model), model_of)
    if reason is None:
        return
    changed = model_of(read_text(text.replace("PHASE", "0 s").replace(old, new), "d"))

    def same(design: Design) -> Model:
        return model_of(design)

    with pytest.raises(NotExactError, match=reason):
        delay_cases(changed, open_delays(changed), same)
