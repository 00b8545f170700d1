"""Writers of one field: how loops are read, where scalers rest against running them, and laws of the answers."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coherence.base.solver import unsat
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.expressions import parse
from coherence.language.reading import read_text
from coherence.model.model import EVERYTHING, Interval
from coherence.verify.actions.fixed_points import Scaler, agree, fighting_load, fighting_signal, same
from coherence.verify.facts.design_facts import copies, known
from coherence.verify.facts.writers import Writer, reads, static_only, writers
from coherence.verify.patterns.writers import common_fixed_point
from tests.draws import few

SIGNAL = parse("web.cpu")


def design_of(*loops: str, more: str = "") -> str:
    return "coherence: 1\nloops:\n" + "".join(f"  {line}\n" for line in loops) + more


def the_writer(line: str) -> Writer:
    (found,) = writers(read_text(design_of(line))).values()
    return found[0]


def answers(text: str) -> list[Finding]:
    return list(common_fixed_point.ask(Subject(read_text(text), {"<design>": text})))


def setter(name: str, value: str, mode: str = "always", signal: str = "web.desired") -> str:
    return f"{name}: {{actuation: {{signal: {signal}, law: set, to: {value}, mode: {mode}}}}}"


def hpa(name: str, low: int, high: int, setpoint: str = "70 %", signal: str = "web.cpu") -> str:
    return (
        f"{name}: {{uses: kubernetes_hpa, target: {{signal: {signal}, setpoint: {setpoint}}}, "
        f"actuation: {{signal: web.desired, bounds: [{low}, {high}]}}}}"
    )


# --- reading loops


@pytest.mark.parametrize(
    ("line", "kind", "mode"),
    [
        ("a: {actuation: {signal: w.x, law: set, to: 1}}", "set", ""),
        ("a: {actuation: {signal: w.x, to: 1, mode: once}}", "set", "once"),
        ("a: {timescale: {period: 1 s}, actuation: {signal: w.x, to: 1}}", "set", "always"),
        ("a: {trigger: w.t > 1, actuation: {signal: w.x, to: 1}}", "set", "always"),
        ("a: {trigger: always, actuation: {signal: w.x, to: 1}}", "set", ""),
        ("a: {actuation: {signal: w.x, to: unset}}", "unset", "always"),
        ("a: {trigger: w.t > 1, actuation: {signal: w.x, by: 1}}", "step", "always"),
        ("a: {rules: [{when: w.t > 1, by: 1}], actuation: {signal: w.x}}", "step", "always"),
        ("a: {target: {signal: w.t, setpoint: 1}, actuation: {signal: w.x, bounds: [1, 2]}}", "scale", "always"),
        ("a: {trigger: w.t > 1, actuation: {signal: w.x, law: ignore}}", "ignore", "always"),
    ],
)
def test_what_a_loop_does_to_its_field(line: str, kind: str, mode: str) -> None:
    writer = the_writer(line)
    assert (writer.kind, writer.mode) == (kind, mode)


def test_bounds_clip_what_is_set() -> None:
    assert the_writer("a: {actuation: {signal: w.x, to: 9, bounds: [1, 5]}}").values == Interval(
        Fraction(5), Fraction(5)
    )
    assert the_writer("a: {actuation: {signal: w.x, to: 2 .. 9, bounds: [1, 5]}}").values == Interval(
        Fraction(2), Fraction(5)
    )
    assert the_writer("a: {actuation: {signal: w.x, to: w.y}}").values == EVERYTHING
    assert the_writer("a: {trigger: w.t > 0, actuation: {signal: w.x, by: 1, bounds: [1, unlimited]}}").values == (
        Interval(Fraction(1), None)
    )


def test_evictions_write_no_field_and_bare_names_are_resolved() -> None:
    text = design_of(
        "a: {trigger: n.used > 1, actuation: {evict: task}}", "b: {actuation: {signal: p, to: 1}}",
        more="components: {power: {state: \"p' = p\", step: 1 s, from: 0}}\n",
    )  # fmt: skip
    assert list(writers(read_text(text))) == ["power.p"]


def test_loops_that_both_step_are_not_static() -> None:
    step = "{}: {{trigger: w.t > 1, actuation: {{signal: w.x, by: {}}}}}"
    (both,) = writers(read_text(design_of(step.format("a", 1), step.format("b", -1)))).values()
    assert not static_only(both)
    assert static_only(both[:1])
    assert reads(both[0].loop) == ""


def test_copies_are_what_the_autoscalers_may_choose() -> None:
    text = design_of(
        hpa("a", 2, 10), setter("git", "1"), more="components: {web: {copies: 4}, api: {copies: 2 .. 3}}\n"
    )
    facts = known(Subject(read_text(text)))
    passing = design_of(hpa("a", 2, 10), setter("git", "1", "on change"))
    assert copies(known(Subject(read_text(passing))), "web") == Interval(Fraction(2), Fraction(10))
    assert copies(facts, "web") == Interval(Fraction(1), Fraction(10))
    assert copies(facts, "api") == Interval(Fraction(2), Fraction(3))
    assert copies(facts, "nobody") is None


def test_a_formula_that_is_set_is_evaluated_over_the_constants() -> None:
    text = design_of("a: {timescale: {period: 1 s}, actuation: {signal: w.x, to: ceil(w.load / 10)}}")
    text += "components: {w: {load: 25 .. 95}}\n"
    facts = known(Subject(read_text(text)))
    assert facts.values["w.x"] == Interval(Fraction(3), Fraction(10))


def test_a_written_signal_begins_somewhere_and_reads_as_zero_where_it_is_ignored() -> None:
    step = "a: {trigger: w.t > 1, actuation: {signal: w.x, by: 1, bounds: [2, 5]@}}"
    ignore = "b: {trigger: w.t > 9, actuation: {signal: w.x, law: ignore}}"
    assert known(Subject(read_text(design_of(step.replace("@", ""))))).values["w.x"] == Interval(
        Fraction(2), Fraction(5)
    )
    begun = design_of(step.replace("@", ", from: 9"))
    assert known(Subject(read_text(begun))).values["w.x"] == Interval(Fraction(2), Fraction(9))
    ignored = design_of(step.replace("@", ""), ignore)
    assert known(Subject(read_text(ignored))).values["w.x"] == Interval(Fraction(0), Fraction(5))
    constant = design_of(step.replace("@", ""), more="components: {w: {x: 1}}\n")
    assert known(Subject(read_text(constant))).values["w.x"] == Interval(Fraction(1), Fraction(5))


def test_an_output_that_reads_its_own_past_ends() -> None:
    text = 'coherence: 1\ncomponents: {w: {a: "delayed(w.b, 1 s) + 1", b: w.a * 2, c: 3}}\n'
    facts = known(Subject(read_text(text)))
    assert facts.missing(parse("w.a + w.c")) == ("w.b",) or facts.missing(parse("w.a + w.c")) == ("w.a",)


# --- where scalers rest, against running them

COUNTS = st.integers(min_value=1, max_value=12)
PERCENTS = st.integers(min_value=1, max_value=40).map(lambda n: Fraction(n, 8))
TOLERANCES = st.sampled_from((Fraction(0), Fraction(1, 20), Fraction(1, 10), Fraction(1, 5)))
SCALERS = st.builds(
    lambda setpoint, tolerance, low, more, whole: Scaler(
        SIGNAL, setpoint, tolerance, Fraction(low), Fraction(low + more), whole
    ),
    PERCENTS, TOLERANCES, COUNTS, st.integers(min_value=0, max_value=8), st.just(True),
)  # fmt: skip


def resting(scaler: Scaler, y: Fraction) -> set[int]:
    """The counts that one step of the law leaves alone."""
    return {x for x in range(1, 30) if scaler.next(Fraction(x), y) == x}


@settings(max_examples=100, deadline=None)
@given(SCALERS, PERCENTS)
def test_resting_intervals_are_those_of_the_law(scaler: Scaler, y: Fraction) -> None:
    low, high = scaler.rests(y)
    assert resting(scaler, y) == set(range(int(low), int(high) + 1))


@settings(max_examples=few(100), deadline=None)
@given(SCALERS, SCALERS, PERCENTS)
def test_a_fighting_signal_leaves_nothing_alone_and_none_means_none(one: Scaler, other: Scaler, y: Fraction) -> None:
    found = fighting_signal(one, other)
    if found is not None:
        assert not resting(one, found) & resting(other, found)
    else:
        assert resting(one, y) & resting(other, y)
        assert agree(one, other, y)


@settings(max_examples=100, deadline=None)
@given(SCALERS, SCALERS)
def test_a_fighting_load_leaves_nothing_alone(one: Scaler, other: Scaler) -> None:
    found = fighting_load(one, other)
    if found is not None:
        counts = range(1, 200)
        assert not any(one.next(Fraction(n), found / n) == n == other.next(Fraction(n), found / n) for n in counts)


@settings(max_examples=50, deadline=None)
@given(SCALERS, SCALERS)
def test_equal_maps_never_fight(one: Scaler, other: Scaler) -> None:
    assert fighting_signal(one, one) is None
    assert fighting_load(one, one) is None
    if same(one, other):
        assert fighting_signal(one, other) is None


def test_the_two_tutorials_fight_between_their_targets() -> None:
    one = Scaler(SIGNAL, Fraction(1), Fraction(1, 10), Fraction(1), Fraction(2), whole=True)
    other = Scaler(SIGNAL, Fraction(5), Fraction(1, 10), Fraction(1), Fraction(2), whole=True)
    found = fighting_signal(one, other)
    assert found is not None
    assert Fraction(11, 10) < found < Fraction(9, 2)


# --- the answers


@pytest.mark.parametrize(
    ("loops", "promise", "verdict"),
    [
        ([setter("git", "1"), hpa("hpa", 2, 10)], "", "conflict"),
        ([setter("git", "5"), hpa("hpa", 2, 10)], "", "conflict"),
        ([setter("git", "5"), hpa("hpa", 5, 5)], "", "proved"),
        ([setter("git", "0"), hpa("hpa", 2, 10)], "", "undecided"),  # at 0 the HPA is off
        ([setter("git", "1", "once"), hpa("hpa", 2, 10)], "", "note"),
        ([setter("git", "1", "once"), hpa("hpa", 2, 10)], "web.desired >= 2", "conflict"),
        ([setter("git", "2", "once"), hpa("hpa", 2, 10)], "web.desired >= 2", "proved"),
        ([setter("git", "2", "once"), hpa("hpa", 2, 10)], "never web.desired < 2", "proved"),
        ([setter("git", "1 .. 4", "once"), hpa("hpa", 2, 10)], "web.desired >= 2", "conflict"),
        ([setter("git", "unset"), hpa("hpa", 2, 10)], "", "proved"),
        ([setter("one", "3"), setter("other", "3")], "", "proved"),
        ([setter("one", "3"), setter("other", "4")], "", "conflict"),
        ([setter("one", "3"), setter("other", "2 .. 4")], "", "conflict"),
        ([setter("one", "3"), setter("other", "3", "on change")], "", "proved"),
        ([hpa("one", 2, 10), hpa("other", 2, 10)], "", "conflict"),  # both are switched off
        ([setter("git", "3", "on change"), hpa("hpa", 2, 10)], "", "conflict"),
        ([setter("git", "3", "on change"), hpa("hpa", 3, 10)], "web.desired >= 3", "proved"),
        ([setter("git", "3", "on change"), hpa("hpa", 2, 10)], "web.desired >= 3", "conflict"),  # 10 -> 3, not below
        ([hpa("one", 2, 10), hpa("other", 2, 10, "30 %")], "", "conflict"),
        ([hpa("one", 2, 10), hpa("other", 12, 20)], "", "conflict"),
        ([hpa("one", 2, 10), hpa("other", 2, 10, signal="web.qps")], "", "undecided"),
        ([hpa("one", 2, 10), hpa("other", 2, 12, signal="web.qps")], "", "conflict"),
    ],
)
def test_verdicts(loops: list[str], promise: str, verdict: str) -> None:
    promises = f"promises: {{floor: {promise}}}\n" if promise else ""
    found = answers(design_of(*loops, more=promises))
    assert [str(finding.verdict) for finding in found] == [verdict]
    turned = answers(design_of(*reversed(loops), more=promises))
    assert [str(finding.verdict) for finding in turned] == [verdict]


def test_a_condition_that_never_holds_writes_nothing() -> None:
    line = "shed: {trigger: web.load > 100, actuation: {signal: web.desired, law: set, to: 0}}"
    assert answers(design_of(line, hpa("hpa", 2, 10), more="components: {web: {load: 50}}\n")) == []


@pytest.mark.parametrize("name", ["git", "a", "z9_z"])
def test_names_do_not_matter(name: str) -> None:
    (finding,) = answers(design_of(setter(name, "1"), hpa("hpa", 2, 10)))
    assert finding.verdict is Verdict.CONFLICT
    assert finding.of == (name, "hpa")
    assert len(finding.places) == 2


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 12), st.integers(1, 10), st.integers(0, 6))
def test_git_and_an_autoscaler_agree_only_on_one_value(value: int, low: int, more: int) -> None:
    """Certain exactly outside the bounds, proved exactly where the bounds are that value."""
    assume(value > 0)
    (finding,) = answers(design_of(setter("git", str(value)), hpa("hpa", low, low + more)))
    if low == value and more == 0:
        assert finding.verdict is Verdict.PROVED
        assert finding.evidence.certificate is not None
        assert unsat(finding.evidence.certificate, timeout_ms=5000).unsat
    else:
        assert finding.verdict is Verdict.CONFLICT
        assert (finding.certainty == "possible") is (low <= value <= low + more)
        assert finding.evidence.witness
