"""Promises over ranges of delays: the answer is that of every delay, laid beside the definition of a run."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import takewhile

import pytest

from coherence.checking.weighing import ask_weighed
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.findings.registry import question_modules
from coherence.language.reading import read_text

MODULES = [m for m in question_modules() if any(q.code == "COH220" for q in m.questions)]
SECONDS = {"lands": "lands: {} s", "hold_down": "hold_down: {} s, lands: 20 s"}


def design(timescale: str, promise: str) -> str:
    """The law that multiplies what it commanded: load of 20 at 100 %, aim 50 %, every 15 s."""
    return f"""coherence: 1
components: {{pool: {{desired: 0.5 .. 400, load: 20, util: load / desired}}}}
loops:
  hpa:
    target: {{signal: pool.util, setpoint: 50 %}}
    timescale: {{period: 15 s, phase: 0 s, {timescale}}}
    actuation: {{signal: pool.desired, from: 20, bounds: [1, 400.5], count: commanded}}
promises: {{kept: "{promise}"}}
"""


def asked(text: str) -> Finding:
    (finding,) = ask_weighed(Subject(read_text(text, "d"), {"d": text}), MODULES)
    return finding


@cache  # of one range for all promises
def landed(late: Fraction, hold: Fraction, samples: int = 120) -> list[Fraction]:
    """Returns what holds at each sample: the definition of the law, its window and its landings in ten lines."""
    written, wishes, holds = [Fraction(20)], list[Fraction](), list[Fraction]()
    for k in range(samples):
        latest = reversed(list(enumerate(written[1:])))
        arrived = (c for j, c in latest if j * 15 + late <= k * 15 and (late or j < k))
        holds.append(next(arrived, Fraction(20)))
        wishes.append(written[-1] * (Fraction(20) / holds[-1]) * 2)
        wish, window = wishes[-1], [w for age, w in takewhile(lambda a: a[0] * 15 <= hold, enumerate(wishes[::-1]))]
        wish = min(max(window), written[-1]) if wish < written[-1] and hold else wish
        written.append(min(max(wish, Fraction(1)), Fraction(801, 2)))
    return holds


PROMISES = {"always pool.desired <= 60": lambda h: max(h) <= 60, "always pool.desired <= 200": lambda h: max(h) <= 200,
            "eventually_always pool.desired <= 41": lambda h: max(h[-30:]) <= 41}  # fmt: skip
RANGES = [("lands", 0, 14), ("lands", 10, 20), ("lands", 0, 44), ("lands", 31, 40), ("hold_down", 0, 14),
          *(pytest.param("hold_down", low, 40, marks=pytest.mark.slow) for low in (0, 15))]  # fmt: skip


@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize(("key", "low", "high"), RANGES)
def test_a_promise_is_kept_over_a_range_where_every_delay_of_it_keeps_it(
    promise: str, key: str, low: int, high: int
) -> None:
    delays = [Fraction(low) + Fraction(high - low) * n / 40 for n in range(41)]
    runs = [landed(d, Fraction(0)) if key == "lands" else landed(Fraction(20), d) for d in delays]
    kept = [PROMISES[promise](run) for run in runs]
    finding = asked(design(SECONDS[key].format(f"{low} s .. {high}"), promise))
    assert finding.verdict is (Verdict.PROVED if all(kept) else Verdict.CONFLICT), finding.message
    if not all(kept) and any(kept):
        assert finding.certainty == "possible"
        assert f"({key} of hpa" in finding.message


@pytest.mark.slow
def test_responses_are_answered_for_every_delay() -> None:
    promise = "after pool.util > 60 % then pool.util <= 60 % within {}"
    assert asked(design("lands: 0 s .. 14 s", promise.format("15 s"))).verdict is Verdict.PROVED
    conflict = asked(design("lands: 0 s .. 14 s", promise.format("10 s")))
    assert (conflict.verdict, conflict.certainty) == (Verdict.CONFLICT, "possible")
    assert "(lands of hpa above 10 s)" in conflict.message


def test_what_is_not_finitely_many_delays_says_so() -> None:
    text = design("lands: 0 s .. 14 s", "always pool.desired <= 60").replace(
        "load: 20", 'load: "mean_over(1 * 20, 7 s)"'
    )
    finding = asked(text)
    assert finding.verdict is Verdict.UNDECIDED
    assert "not every delay: a mean over time depends on the very delay" in finding.evidence.bound
