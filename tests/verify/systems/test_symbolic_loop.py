"""One sample of one loop, symbolically: triggers, streaks, rules and laws; the only run of the relation, by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.exact import Choices, execute
from coherence.verify.systems.cases import NotLinearError
from tests.verify.systems.relation import only_run, plain, plant, runs

SWINGS = {"x": "12 if x < 5 else 2", "start": "2"}  # 2, 12, 2, 12, ...
COUNT = "law: step, by: 1"


@pytest.mark.parametrize(
    ("design", "expected"),
    [
        # the trigger: at x > 5 alone; once means one action in all
        ({"trigger": "trigger: x > 2", "law": COUNT}, [0, 0, 0, 1, 2, 3]),
        ({"trigger": "trigger: x > 5", "law": COUNT, **SWINGS}, [0, 1, 1, 2, 2]),
        ({"trigger": "trigger: x > 5", "limits": ", mode: once", **SWINGS}, [0, 12, 12, 12]),
        ({"limits": ", mode: once", **SWINGS}, [2, 2, 2]),
        # memory: on from 6, until 3: x = 0 .. 9 down again
        ({"trigger": "trigger: {enter: x >= 6, leave: x <= 3}", "law": 'law: set, to: "5"', "start": "3",
          "x": "x + 2 if job.act < 1 else x - 1"}, [0, 0, 5, 5, 5, 5]),
        # true at every sample of a closed window: x > 3 from t = 4 on, so at 6; 1.5 s are two samples too
        ({"trigger": 'trigger: "x > 3 for 2 s"', "law": COUNT}, [0, 0, 0, 0, 0, 0, 1, 2]),
        ({"trigger": 'trigger: "x > 3 for 1.5 s"', "law": COUNT}, [0, 0, 0, 0, 0, 0, 1, 2]),
        ({"trigger": 'trigger: "x > 3 for 1 s"', "law": COUNT}, [0, 0, 0, 0, 0, 1, 2]),
        ({"trigger": 'trigger: "x > 3 for 1 s"', "law": COUNT, **SWINGS}, [0, 0, 0, 0]),
        ({"trigger": 'trigger: "(x > 1 for 1 s) for 2 s"', "law": COUNT}, [0, 0, 0, 0, 0, 1, 2]),
        # against the sample before; the first has nothing before it
        ({"trigger": 'trigger: "x > previous(x)"', "law": COUNT, **SWINGS}, [0, 1, 1, 2, 2, 3]),
        ({"law": 'law: set, to: "x - previous(x)"', "x": "2 * x", "start": "1"}, [0, 1, 2, 4, 8, 16]),
        ({"law": 'law: set, to: "previous(x)"'}, [0, 0, 1, 2, 3]),
        # rules: the first that holds acts alone
        ({"trigger": "rules: [{when: x > 6, by: -2}, {when: x < 3, to: 9}]", "law": "mode: always", **SWINGS},
         [9, 7, 9, 7]),
        ({"trigger": "rules: [{when: x > 3, by: 2}, {when: x > 1, by: 5}]", "law": "mode: always"},
         [0, 0, 5, 10, 12, 14]),
        ({"law": 'law: step, by: "x / 4 - 2"', "bounds": "[-5, 5]", **SWINGS}, [-1.5, -0.5, -2, -1, -2.5]),
    ],
)  # fmt: skip
def test_the_relation_has_one_run_and_it_is_the_one_by_hand(design: dict[str, str], expected: list[float]) -> None:
    text = plant(**design)
    assert only_run(text, len(expected)) == expected
    executed = execute(elaborate(read_text(text)), Choices({}, {}, ()), instants=len(expected))
    assert [plain(Fraction(i.after["job.act"])) for i in executed] == expected


def test_a_relay_is_part_of_the_mode() -> None:
    text = plant(trigger="trigger: {enter: x >= 2, leave: x <= 0}", x="x + 1 if not act else x - 1", law=COUNT)
    # sampled 0, 1, 2, 1, 0, 1, 2: on at the third sample, off at the fifth, on again at the seventh
    assert only_run(text, 7, "act") == [0, 0, 1, 1, 0, 0, 1]
    assert only_run(text, 7, "plant.x") == [1, 2, 1, 0, 1, 2, 1]


def test_a_metric_over_the_present_command_needs_no_product() -> None:
    text = plant(trigger='target: {signal: "12 / job.act", setpoint: 4}', law="law: proportional", x="x",
                 bounds="[1, 100]", first="2")  # fmt: skip
    assert only_run(text, 3) == [3, 3, 3]  # 2 * (12 / 2) / 4


def test_a_product_of_two_unknowns_is_refused_with_the_name_of_the_loop() -> None:
    text = plant(trigger="target: {signal: x, setpoint: 4}", law="law: proportional", x="x", bounds="[1, 100]")
    with pytest.raises(NotLinearError, match="the law of act: a product or quotient of two unknowns"):
        runs(text, 1)


def test_a_mode_that_the_encoding_does_not_carry_is_refused() -> None:
    with pytest.raises(NotLinearError, match="mode on change of act"):
        runs(plant(limits=", mode: on change"), 1)
