"""Where a loop moves its signal up and where down: the values at which each move is possible, by hand."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import pytest

from coherence.checking.design_check import analyse
from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.language.expressions import names, parse
from coherence.language.expressions.evaluate import Constants, evaluate
from coherence.language.expressions.tree import Tree
from coherence.language.reading import read_text
from coherence.model.laws import above, below
from coherence.model.model import Interval
from coherence.verify.actions.loop_directions import DOWN, UP, Move, moves, of_setpoint, read_by, seen
from coherence.verify.facts.design_facts import DesignFacts, known
from tests.draws import source
from tests.strategies import written

TEXT = """coherence: 1
components: {{web: {{load: 1 .. 9, copies: 4, double: 2 * load}}, x: {{v: 3}}}}
loops:
  a: {{{loop}}}
"""
BASE = {"x.v": Fraction(3)}
HALVES = [Fraction(n, 2) for n in range(21)]  # 0 to 10


def facts_of(loop: str) -> DesignFacts:
    text = TEXT.format(loop=loop)
    return known(Subject(read_text(text), {"<design>": text}))


def moves_of(loop: str) -> tuple[Move, ...]:
    facts = facts_of(loop)
    ((writer,),) = facts.written.values()
    return moves(facts, writer)


def loads(tree: Tree | None, *, here: str = "s.v", at: float = 0, acting: bool = True) -> tuple[float, float] | str:
    """The least and the most load from 0 to 10 at which a condition holds; fails where it has gaps."""
    if tree is None:
        return "always"
    held = [x for x in HALVES if evaluate(tree, Constants({**BASE, "web.load": x, here: Fraction(at), "a": acting}))]
    if not held:
        return "never"
    assert len(held) == 2 * (held[-1] - held[0]) + 1, held
    return float(held[0]), float(held[-1])


@pytest.mark.parametrize(
    ("loop", "way", "when", "by"),
    [
        ("trigger: web.load > 3, actuation: {signal: s.v, law: step, by: 2}", UP, (3.5, 10), 2),
        ("trigger: web.load > 3, actuation: {signal: s.v, law: step, by: -2 .. -1}", DOWN, (3.5, 10), None),
        ("trigger: always, actuation: {signal: s.v, law: step, by: 1 .. 2}", UP, "always", None),
        ("trigger: web.double > 6, actuation: {signal: s.v, law: step, by: 2}", UP, (3.5, 10), 2),
        ("trigger: web.load < 3, actuation: {signal: s.v, law: step, by: x.v}", UP, (0, 2.5), 3),
    ],
)
def test_a_step_moves_by_its_sign_where_its_trigger_holds(loop: str, way: int, when: object, by: int | None) -> None:
    (move,) = moves_of(loop)
    assert (move.name, move.way, move.by, move.to) == ("a", way, by, None)
    assert loads(move.when) == when
    assert loads(move.enters) == when


@pytest.mark.parametrize(
    "loop",
    [
        "trigger: web.load > 3, actuation: {signal: s.v, law: step, by: -1 .. 1}",  # either way
        "trigger: web.load > 3, actuation: {signal: s.v, law: step, by: 0}",
        "actuation: {signal: s.v, law: ignore}",
        "actuation: {signal: s.v, to: unset}",
        "target: {signal: web.load}, actuation: {signal: s.v, law: step, by: -1 .. 1}",
    ],
)
def test_a_move_of_unknown_direction_is_left_out(loop: str) -> None:
    assert moves_of(loop) == ()


def test_what_a_loop_is_doing_has_its_name() -> None:
    (move,) = moves_of("trigger: web.load > 3, actuation: {signal: s.v, law: step, by: 2}")
    assert loads(move.when, acting=False) == "never"
    assert move.when is not None
    assert "a" in names(move.when)


def test_a_set_value_is_above_or_below_what_it_replaces() -> None:
    up, down = moves_of("trigger: web.load > 3, actuation: {signal: s.v, law: set, to: 5}")
    assert (up.way, down.way) == (UP, DOWN)
    assert up.to == 5
    assert down.to == 5
    for here, moving in ((4, up), (6, down)):
        for move in (up, down):
            assert loads(move.when, at=here) == ((3.5, 10) if move is moving else "never")
            assert loads(move.enters, at=here) == loads(move.when, at=here)
    assert loads(up.when, at=5) == loads(down.when, at=5) == "never"


def test_a_relay_may_act_until_it_leaves_and_surely_acts_where_it_enters() -> None:
    (move,) = moves_of(
        "trigger: {enter: web.load > 7, leave: web.load < 2}, actuation: {signal: s.v, law: step, by: 1}"
    )
    assert loads(move.when) == (2, 10)
    assert loads(move.enters) == (7.5, 10)
    assert loads(move.when, acting=False) == loads(move.enters, acting=False) == "never"
    assert move.text == "web.load > 7"


def test_a_rule_acts_only_where_no_earlier_one_does() -> None:
    rules = "[{when: web.load > 7, by: 2}, {when: web.load > 4, by: -1}, {when: web.load < 9, to: 3}]"
    first, second, third, last = moves_of(f"rules: {rules}, actuation: {{signal: s.v}}")
    assert [move.way for move in (first, second, third, last)] == [UP, DOWN, UP, DOWN]
    assert [move.by for move in (first, second, third, last)] == [2, -1, None, None]
    assert [move.to for move in (first, second, third, last)] == [None, None, 3, 3]
    assert loads(first.when) == (7.5, 10)
    assert loads(second.when) == (4.5, 7)
    assert loads(third.when, at=2) == (0, 4)
    assert loads(last.when, at=4) == (0, 4)
    assert loads(last.when, at=2) == "never"
    assert [move.text for move in (first, second, third)] == ["web.load > 7", "web.load > 4", "web.load < 9"]


SCALED = (
    "target: {{signal: web.load, setpoint: {setpoint}{more}}}, "
    "actuation: {{signal: {signal}, law: proportional{bounds}}}"
)


def scaled(
    *, setpoint: str = "5", more: str = "", signal: str = "web.desired", bounds: str = ", bounds: [1, 8]"
) -> tuple[Move, Move]:
    up, down = moves_of(SCALED.format(setpoint=setpoint, more=more, signal=signal, bounds=bounds))
    assert (up.way, down.way) == (UP, DOWN)
    return up, down


def at(move: Move, command: float) -> object:
    assert move.when == move.enters
    return loads(move.when, here="web.desired", at=command)


def test_members_grow_above_the_tolerance_and_shrink_where_one_less_is_enough() -> None:
    up, down = scaled(more=", tolerance: 10 %")
    assert at(up, 4) == (6, 10)  # above 5.5
    # ceil(4 y / 5) <= 3 where y <= 3.75; ceil(2 y / 5) <= 1 where y <= 2.5
    assert at(down, 4) == (0, 3.5)
    assert at(down, 2) == (0, 2.5)
    assert (up.text, down.text) == ("web.load above its setpoint", "web.load below its setpoint")


def test_the_tolerance_counts_where_one_less_is_enough_anyway() -> None:
    _, down = scaled(more=", tolerance: 20 %", bounds=", bounds: [1, 100]")
    assert at(down, 50) == (0, 3.5)  # below 4, though ceil(50 * 4.5 / 5) is 45
    _, exact = scaled(bounds=", bounds: [1, 100]")
    assert at(exact, 50) == (0, 4.5)


def test_at_its_bounds_a_command_moves_one_way_only() -> None:
    up, down = scaled()
    assert (at(up, 8), at(down, 1)) == ("never", "never")
    assert (at(up, 7), at(down, 8)) == ((5.5, 10), (0, 4))  # ceil(8 y / 5) <= 7 where y <= 4.375
    up, _ = scaled(bounds="")
    assert at(up, 1000) == (5.5, 10)


def test_a_command_below_zero_is_scaled_the_other_way() -> None:
    up, down = moves_of(
        "target: {signal: web.load, setpoint: 5}, actuation: {signal: gain.v, law: proportional, bounds: [-20, 20]}"
    )
    told = [loads(move.when, here="gain.v", at=here) for here in (10, -10) for move in (up, down)]
    assert told == [(5.5, 10), (0, 4.5), (0, 4.5), (5.5, 10)]


def test_a_set_point_may_be_another_number_of_the_design() -> None:
    text = "target: {signal: web.load, setpoint: x.v}, actuation: {signal: web.desired, law: proportional}"
    up, _ = moves_of(text)
    assert at(up, 4) == (3.5, 10)


@pytest.mark.parametrize(("level", "above_it", "below_it"), [(2, (2.5, 10), (-10, 1.5)), (-2, (-10, -2.5), (-1.5, 10))])
def test_a_set_point_that_may_be_below_zero_is_compared_by_the_ratio(
    level: int, above_it: tuple[float, float], below_it: tuple[float, float]
) -> None:
    facts = facts_of("actuation: {signal: web.desired, law: step, by: 1}")
    facts.values["x.v"] = Interval(Fraction(-2), Fraction(2))
    for condition, (low, high) in ((above, above_it), (below, below_it)):
        tree = of_setpoint(facts, partial(condition, tolerance=Fraction(0)), parse("web.load"), parse("x.v"))
        for load in (-10, -2.5, -1.5, 0, 1.5, 2.5, 10):
            point = Constants({"web.load": Fraction(load), "x.v": Fraction(level)})
            assert evaluate(tree, point) is (low <= load <= high), (condition, load)


def test_a_trigger_sees_its_target_as_the_sensor_shows_it() -> None:
    facts = facts_of(
        "target: {signal: web.load, sensor: [scrape 15 s, mean 30 s]}, trigger: web.load > 2, "
        "actuation: {signal: s.v, law: step, by: 1}"
    )
    loop = facts.design.loops["a"]
    assert written(seen(facts, loop, parse("web.load > x.v"))) == "(mean_over(sampled(web.load, 15.0), 30.0) > x.v)"
    for link, function in (("max 5 s", "max_over"), ("last 5 s", "max_over"), ("rate 5 s", "mean_over")):
        facts = facts_of(
            f"target: {{signal: web.load, sensor: [{link}]}}, actuation: {{signal: s.v, law: step, by: 1}}"
        )
        assert written(seen(facts, facts.design.loops["a"], parse("web.load"))) == f"{function}(web.load, 5.0)"


def test_what_is_read_leaves_out_names_of_loops() -> None:
    assert read_by(parse("web.load > 3 and not a"), frozenset({"a"})) == {"web.load"}
    assert read_by(None, frozenset({"a"})) == frozenset()


def undo_each_other(above: int, low: int, below: int, high: int, off: int | None) -> bool:
    """Decides whether `low`, set wherever more than `above` are there, and `high`, set below `below`, follow each
    other for ever.
    """
    return low != high and high > above and low < below and low != off


def test_a_command_is_left_alone_at_the_value_at_which_a_loop_is_off() -> None:
    rng, decided = source(43), {Verdict.CONFLICT: 0, Verdict.PROVED: 0}
    for _ in range(30):
        low, high, off = rng.randint(0, 2), rng.randint(3, 6), rng.choice((0, 0, None))
        above, below = rng.randint(low, 7), rng.randint(1, high)
        stated = f", off_at: {off}" if off is not None else ""
        text = (
            "coherence: 1\nloops:\n"
            f"  less: {{trigger: job.idle and job.n > {above}, actuation: {{signal: job.n, law: set, to: {low}, "
            "bounds: [0, 9]}}\n"
            f"  more: {{trigger: job.n < {below}, actuation: {{signal: job.n, law: set, to: {high}, "
            f"bounds: [1, 9]{stated}}}}}\n"
        )
        findings = analyse(
            read_text(text), {"d": text}, lambda sources: read_text(sources["d"]), select=("COH232",)
        ).findings
        verdicts = {finding.verdict for finding in findings if finding.code == "COH232"}
        if Verdict.CONFLICT in verdicts:
            assert undo_each_other(above, low, below, high, off), text
        if Verdict.PROVED in verdicts:
            assert not undo_each_other(above, low, below, high, off), text
        for verdict in verdicts & decided.keys():
            decided[verdict] += 1
    assert min(decided.values()) > 4
