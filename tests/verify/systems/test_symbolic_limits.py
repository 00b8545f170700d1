"""What limits a wish, symbolically: the only run of the relation, by hand; and what readings leave open."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.exact import Choices, execute
from coherence.verify.systems.cases import NotLinearError
from coherence.verify.systems.model_readings import readings
from tests.verify.systems.relation import LOOSE, only_run, plain, plant, relation, runs

SWINGS = {"x": "12 if x < 5 else 2", "start": "2"}  # 2, 12, 2, 12, ...


def rate(*limits: str) -> str:
    return f", rate: [{', '.join(f'{{{limit}}}' for limit in limits)}]"


@pytest.mark.parametrize(
    ("design", "expected"),
    [
        # x counts 0, 1, 2, ... and is written at once; a change at t keeps the command until t + cooldown is over
        ({}, [0, 1, 2, 3, 4, 5]),
        ({"times": ", cooldown: 1.5 s"}, [0, 1, 1, 3, 3, 5, 5, 7]),
        ({"times": ", cooldown: 2 s"}, [0, 1, 1, 1, 4, 4, 4, 7]),
        ({"times": ", cooldown: 0 s", **SWINGS}, [2, 12, 2, 12]),
        ({"times": ", cooldown: 2 s", **SWINGS}, [2, 2, 2, 12, 12, 12, 2]),
        # the largest of the last second is never below 12 once it was 12; the smallest never above 2
        ({"times": ", hold_down: 1 s", **SWINGS}, [2, 12, 12, 12, 12]),
        ({"times": ", hold_up: 1 s", **SWINGS}, [2, 2, 2, 2]),
        ({"times": ", hold_down: 1 s, hold_up: 1 s", **SWINGS}, [2, 2, 2, 2]),
        ({"times": ", hold_up: 2 s", "x": "x + 3"}, [0, 0, 0, 3, 6, 9]),
        ({"times": ", hold_down: 2 s", "x": "x - 2", "start": "20"}, [20, 20, 20, 18, 16, 14]),
        ({"times": ", hold_down: 2.5 s", "x": "x - 2", "start": "20", "first": "20"}, [20, 20, 20, 18, 16]),
        # at most 3 from what was written 2 s before: 0, 0, 3, 3, 6
        ({"limits": rate("by: 3, per: 2 s"), "x": "15", "start": "15"}, [3, 3, 6, 6, 9, 9]),
        ({"limits": rate("by: 3, per: 2 s, way: down"), "x": "0", "first": "20"}, [17, 17, 14, 14, 11]),
        ({"limits": rate("by: 3, per: 2 s, way: up"), "x": "0", "first": "20"}, [0, 0, 0]),
        ({"limits": rate("by: 3, per: 2 s, way: down"), "x": "15", "start": "15"}, [15, 15]),
        # of several limits the farthest counts: max(0 + 2, 0 + 5), max(5 + 2, 0 + 5), max(7 + 2, 5 + 5)
        ({"limits": rate("by: 2, per: 1 s", "by: 5, per: 2 s"), "x": "15", "start": "15"}, [5, 7, 10, 12, 15]),
        ({"limits": rate("percent: 50 %, per: 1 s"), "x": "15", "start": "15", "first": "4"}, [6, 9, 13.5, 15, 15]),
        ({"limits": rate("percent: 50 %, per: 1 s"), "x": "1", "start": "1", "first": "16"}, [8, 4, 2, 1, 1]),
        ({"limits": rate("by: 3, percent: 50 %, per: 1 s"), "x": "15", "start": "15", "first": "4"}, [7, 10.5, 15]),
        ({"limits": rate("by: 3, percent: 50 %, per: 1 s"), "x": "0", "first": "16"}, [8, 4, 1, 0, 0]),
        ({"limits": rate("by: 3, per: 2 s"), **SWINGS}, [2, 3, 2, 6, 2, 9, 2, 12]),
        # the limit is told from what was written, also where the cooldown kept it: 3, 3, 6, 6
        ({"limits": rate("by: 3, per: 1 s"), "x": "15", "start": "15", "times": ", cooldown: 1 s"}, [3, 3, 6, 6, 9]),
        ({"bounds": "[3, 9]", "first": "5", **SWINGS}, [3, 9, 3, 9]),
        ({"bounds": "[3, 9]", "first": "5", "law": "law: step, by: 3"}, [8, 9, 9]),
    ],
)
def test_the_relation_has_one_run_and_it_is_the_one_by_hand(design: dict[str, str], expected: list[float]) -> None:
    text = plant(**design)
    assert only_run(text, len(expected)) == expected
    model = elaborate(read_text(text))
    executed = execute(model, Choices({}, {}, ()), instants=len(expected))
    assert [plain(Fraction(i.after["job.act"])) for i in executed] == expected


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        # another writes 0 at 3.5, 7.5, ... s, this one wants 15 each second; what the other took away it may not add
        ("by: 3, per: 1 s", [3, 6, 9, 12, 0, 3, 6, 9, 12, 0]),
        ("by: 3, per: 2 s", [3, 3, 6, 6, 0, 3, 3, 6, 6, 0]),
        ("by: 3, per: 5 s", [3, 3, 3, 3, 0, 0, 3, 3, 3, 0, 0, 0, 3]),
    ],
)
def test_a_rate_counts_from_own_changes_beside_another_writer(limits: str, expected: list[int]) -> None:
    times = "{period: 4 s, phase: 3.5 s}"
    other = f"  other: {{timescale: {times}, actuation: {{signal: job.act, law: set, to: 0, bounds: [0, 20]}}}}\n"
    text = plant(x="15", start="15", limits=rate(limits)) + other
    executed = execute(elaborate(read_text(text)), Choices({}, {}, ()), instants=len(expected))
    assert [plain(Fraction(i.after["job.act"])) for i in executed] == expected
    assert only_run(text, len(expected)) == expected


SCALER = """
coherence: 1
components: {{web: {{load: 100, usage: load / desired}}}}
loops:
  hpa:
    timescale: {{period: 30 s, phase: 0 s{times}}}
    target: {{signal: web.usage, setpoint: 30{tolerance}}}
    actuation: {{signal: web.desired, law: proportional, bounds: {bounds}, from: {first}{limits}}}
"""


def scaler(*, times: str = "", tolerance: str = "", bounds: str = "[1, 10]", first: str = "2", limits: str = "") -> str:
    return SCALER.format(times=times, tolerance=tolerance, bounds=bounds, first=first, limits=limits)


@pytest.mark.parametrize(
    ("design", "expected"),
    [
        ({}, [4, 4]),  # ceil(100 / 30)
        ({"first": "9"}, [4, 4]),
        ({"times": ", lands: 30 s"}, [2, 4, 4]),
        ({"times": ", lands: 60 s"}, [2, 2, 4, 4]),
        ({"times": ", hold_up: 30 s"}, [4, 4]),
        ({"tolerance": ", tolerance: 20 %", "first": "3"}, [3, 3]),  # 33.3 is within 36
        ({"tolerance": ", tolerance: 10 %", "first": "3"}, [4, 4]),  # 33.3 is above 33
        ({"bounds": "[5, 10]", "first": "5"}, [5, 5]),
        ({"bounds": "[1, 3]", "first": "2"}, [3, 3]),
        ({"limits": rate("by: 1, per: 30 s")}, [3, 4, 4]),
        ({"limits": rate("by: 2, per: 60 s"), "first": "9"}, [7, 7, 5, 5, 4]),
    ],
)
def test_whole_numbers_told_apart_run_as_they_are_executed(design: dict[str, str], expected: list[int]) -> None:
    text = scaler(**design)
    apart = [reading for reading in readings(elaborate(read_text(text))) if reading.discrete and reading.windows]
    assert only_run(text, len(expected), "web.desired", apart[0]) == expected


def test_a_share_of_members_is_rounded_by_an_unknown_within_one() -> None:
    # 50 % more than 3 are 4.5, so 5 at most; the relation takes any number from 4.5 up to but not including 5.5
    text = scaler(limits=rate("percent: 50 %, per: 30 s"), first="3", bounds="[1, 10]").replace("100", "300")
    encoder, system = relation(text)
    used = [edge for edge in system.edges if any(edge.update[0].coefficients[len(system.variables) :])]
    assert used
    assert encoder.fresh_names
    unknown = len(system.variables)
    for edge in used:
        rows = [row.linear for row in edge.guard if row.linear.coefficients[unknown]]
        assert len(rows) >= 2


def test_without_windows_a_held_value_lies_between_what_is_wanted_and_what_is_commanded() -> None:
    text = plant(x="x - 2", start="20", first="20", times=", hold_down: 2 s")
    encoder, system = relation(text, LOOSE)
    (choice,) = system.choices
    assert "act hold_down 1" not in system.variables
    held = [edge for edge in system.edges if edge.update[system.variables.index("job.act")].coefficients[-1] == 1]
    assert len(held) == 1
    (edge,) = held
    point = {"plant.x": Fraction(10), "job.act": Fraction(16)}
    for value, allowed in ((9, False), (10, True), (13, True), (16, True), (17, False)):
        state = (*(point[name] for name in system.variables), Fraction(value))
        assert all(row.holds(state) for row in edge.guard) is allowed, value
    assert encoder.fresh_names == {"act hold_down": choice}


def test_without_windows_a_held_rise_lies_between_them_too() -> None:
    text = plant(x="x + 2", start="0", first="0", times=", hold_up: 2 s")
    _, system = relation(text, LOOSE)
    (edge,) = [e for e in system.edges if e.update[system.variables.index("job.act")].coefficients[-1] == 1]
    point = {"plant.x": Fraction(16), "job.act": Fraction(10)}
    for value, allowed in ((9, False), (10, True), (13, True), (16, True), (17, False)):
        state = (*(point[name] for name in system.variables), Fraction(value))
        assert all(row.holds(state) for row in edge.guard) is allowed, value


def test_a_window_needs_a_bound_that_it_is_filled_with_before_the_run() -> None:
    with pytest.raises(NotLinearError, match="hold_down of act: its signal needs bounds"):
        runs(plant(times=", hold_down: 2 s").replace("bounds: [0, 20], ", ""), 1)


def test_a_window_and_a_rate_need_a_command_within_its_bounds() -> None:
    design = {"times": ", hold_down: 2 s", "limits": rate("by: 3, per: 1 s"), "x": "4", "start": "4"}
    assert only_run(plant(**design, first="20"), 4) == [17, 14, 11, 8]  # nothing was recommended before the run
    with pytest.raises(NotLinearError, match="outside its bounds"):
        runs(plant(**design, first="21"), 1)


@pytest.mark.parametrize(("first", "expected"), [("20", [10, 10]), ("1", [3, 3])])
def test_a_proportional_law_moves_a_command_outside_its_bounds_to_the_bound(first: str, expected: list[int]) -> None:
    text = scaler(bounds="[3, 10]", first="5", limits=rate("by: 1, per: 1 h")).replace("from: 5", f"from: {first}")
    assert only_run(text, 2, "web.desired") == expected
