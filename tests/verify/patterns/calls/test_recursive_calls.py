"""Recursive calls beside a run of the branching that draws request by request, and weights at the edge."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.calls.recursive_calls import ask


def design(weights: dict[str, tuple[int, int]], fan: int = 1) -> str:
    """Returns agents that call the next one, `fan` times, in one case, and the model in the other."""
    names = list(weights)
    cases = ", ".join(f"{name}: {{cases: {{on: {on}, off: {off}}}}}" for name, (on, off) in weights.items())
    calls = [f"{{from: users, to: {names[0]}}}"]
    for name, after in zip(names, [*names[1:], names[0]], strict=True):
        calls += [f"{{from: {name}, to: {after}, case: on}}"] * fan + [f"{{from: {name}, to: model, case: off}}"]
    return f"coherence: 1\ncomponents: {{{cases}}}\ncalls: [{', '.join(calls)}]\n"


def answer(text: str) -> Finding:
    (finding,) = ask(Subject(read_text(text, "d"), {"d": text}))
    return finding


def progeny(weights: dict[str, tuple[int, int]], fan: int, drawn: Random) -> int:
    """Returns the requests of the circle that one request of the first agent starts, itself included."""
    names, count = list(weights), 0
    waiting = [0]
    while waiting:
        here = waiting.pop()
        count += 1
        on, off = weights[names[here]]
        if drawn.random() * (on + off) < on:
            waiting += [(here + 1) % len(names)] * fan
    return count


DRAWN = (
    ({"a": (3, 2)}, 1),
    ({"a": (1, 3)}, 2),
    ({"a": (1, 1), "b": (3, 1)}, 1),
    ({"a": (2, 3), "b": (1, 1), "c": (1, 2)}, 2),
)


@pytest.mark.parametrize(("weights", "fan"), DRAWN)
def test_the_mean_is_that_of_drawn_requests(weights: dict[str, tuple[int, int]], fan: int) -> None:
    finding = answer(design(weights, fan))
    assert finding.verdict is Verdict.PROVED
    mean = float(Fraction(finding.evidence.numbers["requests that one of a starts"][0]))
    chance = Random(1)  # noqa: S311
    drawn = [progeny(weights, fan, chance) for _ in range(4000)]
    average = sum(drawn) / len(drawn)
    error = (sum((own - average) ** 2 for own in drawn) / len(drawn)) ** 0.5 / len(drawn) ** 0.5
    assert abs(average - mean) < 4 * error


@pytest.mark.parametrize("off", range(1, 12))
def test_the_edge_is_a_mean_of_one(off: int) -> None:
    finding = answer(design({"a": (6, off)}, 2))
    assert finding.verdict is (Verdict.PROVED if 6 + off > 12 else Verdict.CONFLICT)


def test_the_edge_of_several_is_the_product_of_their_means() -> None:
    for on in range(1, 10):
        product = Fraction(2 * on, on + 3) * Fraction(2 * 2, 5)
        finding = answer(design({"a": (on, 3), "b": (2, 3)}, 2))
        assert finding.verdict is (Verdict.PROVED if product < 1 else Verdict.CONFLICT), on


def test_weights_that_are_ranges_hold_for_all_of_them() -> None:
    assert answer(design({"a": (1, 2)}).replace("off: 2}", "off: 2 .. 9}")).verdict is Verdict.PROVED
    both = design({"a": (1, 2)}, 2)
    assert answer(both.replace("off: 2}", "off: 1 .. 9}")).verdict is Verdict.UNDECIDED
    assert answer(both.replace("off: 2}", "off: 0 .. 1}")).verdict is Verdict.CONFLICT


def test_proofs_are_checked_by_another_solver() -> None:
    z3 = pytest.importorskip("z3")
    for text in (design({"a": (1, 1), "b": (3, 1)}), limited(25)):
        solver = z3.Solver()
        solver.from_string(answer(text).evidence.certificate or "")
        assert solver.check() == z3.unsat


def test_the_script_of_too_much_growth_has_a_model() -> None:
    z3 = pytest.importorskip("z3")
    script = (answer(design({"a": (1, 3)}, 2)).evidence.certificate or "").replace("(/ 1.0 2.0)", "1.0")
    solver = z3.Solver()
    solver.from_string(script)
    assert solver.check() == z3.sat


def limited(most: int) -> str:
    limit = f"limits: {{depth: {{counts: attempts(a), per: users, at_most: {most}, when_full: reject}}}}\n"
    return design({"a": (1, 1)}, 2) + limit


def test_a_limit_that_refuses_is_named() -> None:
    finding = answer(limited(25))
    assert finding.verdict is Verdict.PROVED
    assert "depth refuses after 25" in finding.message


def nested(names: int, most: int, kind: str, fan: int) -> str:
    """Returns agents that call the next one in a case, with a cap on what is in flight at the first."""
    limit = f"limits: {{depth: {{counts: {kind} in flight, at_most: {most}, when_full: reject}}}}\n"
    return design(dict.fromkeys("abc"[:names], (3, 1)), fan) + limit


def all_go_on(names: int, most: int, fan: int) -> int:
    """Returns the requests of a run in which each one calls on: the first thing refuses what is beyond its cap."""
    made, waiting = 0, [(0, 0)]  # a thing, and how many requests of the first one are in flight around it
    while waiting:
        here, around = waiting.pop()
        if here == 0 and around == most:
            continue
        made += 1
        waiting += [((here + 1) % names, around + (here == 0))] * fan
    return made


@pytest.mark.parametrize("names", [1, 2, 3])
@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("kind", ["a.requests", "a"])
def test_a_cap_in_flight_ends_the_run_in_which_everything_goes_on(names: int, most: int, kind: str) -> None:
    for fan in (1, 2):
        finding = answer(nested(names, most, kind, fan))
        assert finding.verdict is Verdict.PROVED
        deepest = most * names
        assert all_go_on(names, most, fan) == sum(fan**depth for depth in range(deepest))


def test_a_cap_in_flight_proves_nothing_where_a_caller_leaves_or_waits_or_passes_by() -> None:
    text = nested(2, 3, "a.requests", 2)
    left = text.replace("to: b, case: on", "to: b, case: on, per_try: 1 s, on_timeout: abandon")
    assert answer(left).verdict is Verdict.UNDECIDED
    cancelled = answer(left.replace("abandon", "cancel"))
    assert cancelled.verdict is Verdict.PROVED
    assert set(cancelled.assumptions) == {"cancelling a -> b also ends what it waits for"}
    assert answer(text).assumptions == ()
    copies = text.replace("to: b, case: on", "to: b, case: on, hedge_after: 1 s")
    assert answer(copies).verdict is Verdict.UNDECIDED
    assert answer(text.replace("when_full: reject", "when_full: wait")).verdict is Verdict.UNDECIDED
    aside = text.replace("calls: [", "calls: [" + "{from: b, to: b, case: on}, " * 2)
    assert answer(aside).verdict is Verdict.UNDECIDED
