"""The rules of the model, each as a small run with numbers computed by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Call, Name, Number, Tree
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute import exact
from coherence.simulate.execute.exact import Choices, Execution, MissingValueError, execute

F = Fraction


def model(components: str, loops: str = "") -> Model:
    return elaborate(read_text(f"coherence: 1\ncomponents: {components}\n" + (f"loops:\n{loops}" if loops else "")))


def loop(name: str, signal: str, body: str, *, period: str = "1 s", more: str = "", rank: int = 1) -> str:
    """A loop that writes a signal in 0 .. 1000 from 0."""
    return (
        f"  {name}:\n    rank: {rank}\n    timescale: {{period: {period}{more}}}\n"
        f"    actuation: {{signal: {signal}, {body}, bounds: [0, 1000], from: 0}}\n"
    )


def setting(made: Model, name: str, tree: Tree) -> Model:
    """The model with a loop that sets its signal to a tree, such as sensor chains make and texts cannot."""
    return replace(made, loops=tuple(replace(x, to=tree) if x.name == name else x for x in made.loops))


def told(made: Model, path: str, until: Any, choices: Choices | None = None) -> list[tuple[Any, Any]]:
    """(time, value after the instant)."""
    return [(i.time, i.after[path]) for i in execute(made, choices, until=F(until))]


def levels(made: Model, path: str, until: Any, choices: Choices | None = None) -> list[Any]:
    return [level for _, level in told(made, path, until, choices)]


CHAIN = loop("first", "a.u", "by: 1", rank=1) + loop("second", "a.v", "to: a.u", rank=2)


def test_rule_1_a_command_of_this_instant_is_visible_to_later_ranks() -> None:
    assert levels(model("{a: {u: 0, v: 0}}", CHAIN), "a.v", 3) == [1, 2, 3, 4]


def test_rule_1_and_not_to_earlier_ones() -> None:
    turned = Choices(order=("second", "first"))
    assert levels(model("{a: {u: 0, v: 0}}", CHAIN), "a.v", 3, turned) == [0, 1, 2, 3]


def test_rule_1_all_else_is_as_sampled_and_maps_step_at_once_from_old_states_and_new_commands() -> None:
    """x and y swap (old states); z takes the command of the same instant (new command)."""
    parts = (
        '{x: {state: "p\' = y.q", step: 1 s, from: 1}, y: {state: "q\' = x.p", step: 1 s, from: 2}, '
        'z: {u: 0, state: "r\' = z.u", step: 1 s, from: 9}}'
    )
    made = model(parts, loop("l", "z.u", "by: 1"))
    run = execute(made, until=F(2))
    assert [(i.after["x.p"], i.after["y.q"]) for i in run] == [(2, 1), (1, 2), (2, 1)]
    assert [(i.sampled["z.r"], i.after["z.r"]) for i in run] == [(9, 1), (1, 2), (2, 3)]


def test_rule_2_a_delayed_value_is_the_sampled_one_and_the_first_before_zero() -> None:
    """x steps 5, 6, 7, ... after 0, 1, 2 s; sampled at t it is 5 + t, so 2 s late: 5, 5, 5, 6, 7."""
    made = model('{a: {v: 0, state: "x\' = x + 1", step: 1 s, from: 5}}', loop("l", "a.v", 'to: "delayed(a.x, 2 s)"'))
    assert levels(made, "a.v", 4) == [5, 5, 5, 6, 7]


def test_rule_2_between_instants_a_delayed_value_is_that_after_the_instant() -> None:
    made = model(
        '{a: {v: 0, state: "x\' = x + 1", step: 1 s, from: 5}}', loop("l", "a.v", 'to: "delayed(a.x, 500 ms)"')
    )
    assert levels(made, "a.v", 3) == [5, 6, 7, 8]


@pytest.mark.parametrize(("phase", "seen"), [(F(0), [5, 6, 7]), (F(1, 4), [6, 7, 8])])
def test_rule_3_phase_is_zero_unless_it_is_chosen(phase: Fraction, seen: Sequence[int]) -> None:
    made = model('{a: {v: 0, state: "x\' = x + 1", step: 1 s, from: 5}}', loop("l", "a.v", "to: a.x"))
    run = execute(made, Choices(phases={"l": phase}), until=F(5, 2))
    assert [i.after["a.v"] for i in run if (i.time - phase).denominator == 1] == seen


HOLD = '{a: {u: 0, state: "x\' = (10 if x == 0 else 0)", step: 1 s, from: 10}}'  # sampled 10, 0, 10, 0, ...


def test_rule_4_hold_down_takes_the_largest_of_a_closed_window() -> None:
    """Recommendations 10, 0, 10, 0: a window of 1 s always holds a 10; one of 0.5 s never does at odd times."""
    assert levels(model(HOLD, loop("l", "a.u", "to: a.x", more=", hold_down: 1 s")), "a.u", 4) == [10] * 5
    assert levels(model(HOLD, loop("l", "a.u", "to: a.x", more=", hold_down: 500 ms")), "a.u", 3) == [10, 0, 10, 0]


def test_rule_4_hold_up_takes_the_smallest_of_a_closed_window() -> None:
    """The first recommendation stands alone and is followed; then 0 holds every rise back."""
    made = model(HOLD, loop("l", "a.u", "to: a.x", more=", hold_up: 1 s"))
    assert levels(made, "a.u", 4) == [10, 0, 0, 0, 0]


def test_rule_4_for_means_every_sample_of_a_closed_window() -> None:
    """x >= 3 from 3 s on; for 2 s: at 5 s, when it held at 3, 4 and 5 s."""
    rules = "  l:\n    timescale: {period: 1 s}\n    rules: [{when: a.x >= 3 for 2 s, by: 1}]\n"
    made = model(
        '{a: {u: 0, state: "x\' = x + 1", step: 1 s, from: 0}}',
        rules + "    actuation: {signal: a.u, bounds: [0, 9], from: 0}\n",
    )
    assert levels(made, "a.u", 6) == [0, 0, 0, 0, 0, 1, 2]


def test_rule_4_cooldown_counts_changes_and_is_closed() -> None:
    """A change at 0 s; with 2 s of cooldown the next is at 3 s (2 s later is still too soon)."""
    made = model("{a: {u: 0}}", loop("l", "a.u", "by: 1", more=", cooldown: 2 s"))
    assert levels(made, "a.u", 7) == [1, 1, 1, 2, 2, 2, 3, 3]


def test_rule_5_a_range_is_one_constant_that_the_choices_give() -> None:
    made = model("{a: {u: 0, k: 2 .. 5}}", loop("l", "a.u", "by: a.k"))
    assert levels(made, "a.u", 2) == [2, 4, 6]
    assert levels(made, "a.u", 2, Choices({"a.k": F(7, 2)})) == [F(7, 2), 7, F(21, 2)]


def test_rule_5_what_nobody_gives_is_asked_for() -> None:
    with pytest.raises(MissingValueError, match=r"outside\.load"):
        execute(model('{a: {state: "x\' = outside.load", step: 1 s, from: 0}}'), until=F(1))


PROPORTIONAL = """\
  hpa:
    timescale: {{period: 1 s{lands}}}
    target: {{signal: "100 / a.n", setpoint: 10, tolerance: 10 %}}
    actuation: {{signal: a.n, law: proportional, bounds: [1, {top}], from: {start}{count}}}
"""


def hpa(start: int, *, lands: str = "", count: str = "", top: int = 100) -> Model:
    return model("{a: {n: 1}}", PROPORTIONAL.format(start=start, lands=lands, count=count, top=top))


def test_rule_6_proportional_rests_within_the_tolerance_and_rounds_up_outside() -> None:
    """100 / 9 = 11.1 is 11 % above 10: ceil(9 * 1.11..) = 10; 100 / 10.99.. within 10 % rests at 11."""
    assert levels(hpa(9), "a.n", 2) == [10, 10, 10]
    assert levels(hpa(11), "a.n", 2) == [11, 11, 11]  # 0.909: off by 9.1 %
    assert levels(hpa(12), "a.n", 2) == [10, 10, 10]  # 0.833: off by 16.7 %


def test_rule_6_proportional_multiplies_what_has_landed_or_what_was_commanded() -> None:
    """From 5 with a landing of 1.5 s the ratio stays 2 until the first 10 lands: 10 again, or 20."""
    assert levels(hpa(5, lands=", lands: 1500 ms"), "a.n", 1) == [5, 5]
    landed = [i.actions for i in execute(hpa(5, lands=", lands: 1500 ms"), until=F(1))]
    assert [[a.after for a in actions] for actions in landed] == [[10], []]
    counted = [i.actions for i in execute(hpa(5, lands=", lands: 1500 ms", count=", count: commanded"), until=F(1))]
    assert [[a.after for a in actions] for actions in counted] == [[10], [20]]


def test_rule_6_saturation_is_an_event_of_its_own_name() -> None:
    first = execute(hpa(5, top=8), until=F(0))[0]
    assert [(a.after, a.rule) for a in first.actions] == [(8, "scaled at bound")]


def test_rule_6_a_value_outside_its_bounds_is_moved_there_at_once() -> None:
    first = execute(hpa(50, top=8), until=F(0))[0]
    assert [(a.after, a.rule) for a in first.actions] == [(8, "moved to bound")]


def test_rule_6_the_first_true_rule_wins() -> None:
    rules = "  l:\n    timescale: {period: 1 s}\n    rules: [{when: a.u >= 2, to: 0}, {when: a.u >= 0, by: 1}]\n"
    made = model("{a: {u: 0}}", rules + "    actuation: {signal: a.u, bounds: [0, 9], from: 0}\n")
    assert levels(made, "a.u", 5) == [1, 2, 0, 1, 2, 0]


def test_rule_7_a_command_lands_at_its_own_time() -> None:
    made = model("{a: {u: 0}}", loop("l", "a.u", "by: 1", period="10 s", more=", lands: 3 s"))
    assert told(made, "a.u", 13) == [(0, 0), (3, 1), (10, 1), (13, 2)]


def test_flow_a_line_with_a_kink_is_cut_where_it_bends() -> None:
    """x' = 3 below 6 and 1 from there on: at 2 s the bend, at 10 s the step of the loop: 6 + 8 = 14."""
    made = model(
        '{a: {u: 0, state: "x\' = (3 if a.x < 6 else 1) / 1 s", from: 0}}', loop("l", "a.u", "to: a.x", period="10 s")
    )
    assert told(made, "a.x", 10) == [(0, 0), (2, 6), (10, 14)]


def test_flow_a_delayed_change_reaches_the_flow_at_its_time_and_not_at_the_next_instant() -> None:
    """u rises to 1 at 0 s; 4 s later x grows by 1 each second; by 10 s it is 6."""
    made = model(
        '{a: {u: 0, state: "x\' = delayed(a.u, 4 s) / 1 s", from: 0}}', loop("l", "a.u", "to: 1", period="10 s")
    )
    assert told(made, "a.x", 10) == [(0, 0), (4, 0), (8, 4), (10, 6)]


def test_flow_a_window_over_a_ramp_is_exact() -> None:
    """x = t: its mean over [6, 10] is 8 and its largest value 10."""
    made = model(
        '{a: {u: 0, v: 0, state: "x\' = 1 / 1 s", from: 0}}',
        loop("m", "a.u", 'to: "mean_over(a.x, 4 s)"', period="10 s") + loop("h", "a.v", "to: a.x", period="10 s"),
    )
    made = setting(made, "h", Call("max_over", (Name("a.x"), Number(F(4)))))
    last = execute(made, until=F(10))[-1]
    assert (last.after["a.u"], last.after["a.v"]) == (8, 10)


def test_flow_a_window_over_a_bend_is_exact() -> None:
    """busy = 1 once x = t passes 7: over [6, 10] it is busy for 3 of 4 seconds."""
    made = model(
        '{a: {u: 0, state: "x\' = 1 / 1 s", from: 0, busy: 1 if a.x > 7 else 0}}',
        loop("m", "a.u", 'to: "mean_over(a.busy, 4 s)"', period="10 s"),
    )
    assert execute(made, until=F(10))[-1].after["a.u"] == F(3, 4)


def test_window_over_a_scrape_that_no_loop_shares_is_exact() -> None:
    """x doubles as a counter of seconds, scraped every 3 s, read at 10 s over 4 s: [6, 9) shows 6, [9, 10] shows 9."""
    made = model(
        '{a: {u: 0, state: "x\' = x + 1", step: 1 s, from: 0}}',
        loop("m", "a.u", "to: a.x", period="10 s"),
    )
    scraped = Call("sampled", (Name("a.x"), Number(F(3))))
    made = setting(made, "m", Call("mean_over", (scraped, Number(F(4)))))
    assert execute(made, until=F(10))[-1].after["a.u"] == F(3 * 6 + 1 * 9, 4)


def test_a_chosen_start_time_moves_the_delay_of_a_flow_with_it() -> None:
    """A delay that is a range counts with the chosen value, wherever it stands."""
    parts = '{a: {u: 0, d: 2 s .. 5 s, state: "x\' = delayed(a.u, a.d) / 1 s", from: 0}}'
    made = model(parts, loop("l", "a.u", "to: 1", period="10 s"))
    assert levels(made, "a.x", 10)[-1] == 8
    assert levels(made, "a.x", 10, Choices({"a.d": F(5)}))[-1] == 5


def test_more_instants_at_one_time_than_any_design_means_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "MOST_AT_ONCE", 3)
    monkeypatch.setattr(exact, "AT_ONCE", F(1))
    made = model("{a: {u: 0}}", loop("l", "a.u", "by: 1", period="100 ms"))
    with pytest.raises(exact.ZenoError, match=r"a\.u"):
        execute(made, until=F(1))


def test_nothing_ever_happens() -> None:
    with pytest.raises(NotExactError, match="nothing happens any more"):
        execute(model("{a: {k: 1}}"), until=F(1))


def test_a_flow_that_nothing_happens_to_is_looked_at_ever_later() -> None:
    instants = execute(model('{a: {state: "x\' = 2 / 1 s", from: 1}}'), until=F(100))
    assert [i.time for i in instants] == [F(t) for t in (0, 1, 2, 4, 8, 16, 32, 64)]
    assert all(i.after["a.x"] == 2 * i.time + 1 for i in instants)


@given(st.fractions(F(0), F(60)))
def test_a_last_look_sees_what_flows_have_come_to(until: F) -> None:
    made = model('{a: {state: "x\' = 2 / 1 s", from: 1}, b: {state: "y\' = b.y + 1", step: 7 s, from: 0}}')
    last = execute(made, until=until, whole=True)[-1]
    assert (last.time, last.after["a.x"], last.after["b.y"]) == (until, 2 * until + 1, until // 7 + 1)


def test_a_copy_goes_its_own_way() -> None:
    run = Execution(model("{a: {u: 0}}", loop("l", "a.u", "by: 1")))
    run.advance()
    twin = run.copy()
    twin.advance()
    assert (run.values["a.u"], twin.values["a.u"]) == (1, 2)
    assert run.configuration(F(1)) != twin.configuration(F(1))
