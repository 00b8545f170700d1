"""Loops in a model: what a run needs of them, their sensors, and where the commands that they write begin."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from coherence.base.reads import recorded
from coherence.language.entries.leaves import leaves
from coherence.language.expressions.tree import Call, Name
from coherence.language.reading import read_text
from coherence.loops.designs.feedback_groups import structure
from coherence.model.draft import ModelDraft
from coherence.model.elaborate import elaborate
from coherence.model.model import Interval
from coherence.model.sampled_loops import sampled_loop
from coherence.simulate.execute.exact import execute

TEXT = """\
coherence: 1
loops:
  hpa:
    target: {signal: web.load, setpoint: 60 %, tolerance: 0.1, sensor: [scrape 15 s, mean 60 s]}
    timescale: {period: 15 s, hold_down: 1 min .. 5 min, lands: 20 s}
    actuation: {signal: pool.replicas, law: proportional, bounds: 2 .. 10, rate: {by: 4, per: 60 s, way: up}}
"""


def drafted(text: str) -> tuple[ModelDraft, object]:
    design = read_text(text, "d.yaml")
    draft = ModelDraft(design)
    return draft, sampled_loop(draft, 0, design.loops["hpa"])


def test_holds_and_landing_count_with_their_upper_ends() -> None:
    (loop,) = elaborate(read_text(TEXT, "d.yaml")).loops
    assert [loop.period, loop.hold_down, loop.hold_up, loop.lands] == [15, 300, 0, 20]
    (rate,) = loop.rates
    assert [rate.by, rate.per] == [4, 60]
    assert rate.up
    assert not rate.down


def test_the_sensor_chain_wraps_the_signal_from_the_inside() -> None:
    (loop,) = elaborate(read_text(TEXT, "d.yaml")).loops
    assert isinstance(loop.measured, Call)
    assert loop.measured.function == "mean_over"
    inner = loop.measured.arguments[0]
    assert isinstance(inner, Call)
    assert inner.function == "sampled"
    assert isinstance(inner.arguments[0], Name)


def test_a_sensor_that_takes_no_time_shows_the_signal_as_it_is() -> None:
    text = re.sub(r"scrape \d+ s", "scrape 0 s", TEXT)
    assert text != TEXT
    (loop,) = elaborate(read_text(text, "d.yaml")).loops
    assert isinstance(loop.measured, Call)
    assert isinstance(loop.measured.arguments[0], Name)


STEP = """\
coherence: 1
components: {pool: {idle: 24 - pool.running, queue: pool.running / 2}}
loops:
  filler:
    target: {signal: pool.idle, setpoint: 3, sensor: [SENSOR]}
    timescale: {period: 15 s}
    trigger: CONDITION
    actuation: {signal: pool.running, law: step, by: 8, bounds: [0, 24], from: 0}
"""


def test_a_loop_with_rules_has_no_other_trigger() -> None:
    rules = "    rules: [{when: pool.idle > 2, by: 8}]\n    actuation"
    ruled = STEP.replace(", by: 8,", ",").replace("    actuation", rules)
    design = read_text(ruled.replace("SENSOR", "").replace("CONDITION", "always"), "d.yaml")
    with recorded() as reads:
        execute(elaborate(design), instants=3)
    assert {leaf.key for leaf in leaves(design) if leaf.place in reads.all()} >= {"rules.when", "rules.by"}
    assert not any(leaf.key == "trigger" for leaf in leaves(design) if leaf.place in reads.all())


@pytest.mark.parametrize(
    ("sensor", "condition", "target"),
    [
        ("", "pool.idle > 2", []),
        ("mean 1 min", "pool.idle > 2", ["signal", "sensor"]),
        ("mean 1 min", "pool.queue < 9", ["signal"]),
    ],
    ids=["the signal itself", "the signal through its sensor", "another signal"],
)
def test_of_what_a_loop_with_a_threshold_aims_at_a_run_reads_only_how_its_condition_is_sensed(
    sensor: str, condition: str, target: list[str]
) -> None:
    design = read_text(STEP.replace("SENSOR", sensor).replace("CONDITION", condition), "d.yaml")
    (loop,) = elaborate(design).loops
    with recorded() as reads:
        execute(elaborate(design), instants=3)
        assert structure(elaborate(design)).groups
    read = {leaf.key for leaf in leaves(design) if leaf.place in reads.all() and leaf.key.startswith("target")}
    assert read == {f"target.{key}" for key in target}
    assert loop.measured is not None


@pytest.mark.parametrize(
    ("old", "new", "needs"),
    [
        ("period: 15 s, ", "", "the period of hpa (`timescale: {period: ...}`)"),
        ("period: 15 s", "period: 15 s .. 30 s", "the period of hpa (`timescale: {period: ...}`)"),
        ("law: proportional", "law: ignore", "`law: ignore` in execution"),
        (", setpoint: 60 %, tolerance: 0.1", "", "target signal and setpoint of hpa"),
        (
            "    actuation: {signal: pool.replicas,",
            "    rules: [{when: pool.usage > 1, by: 1}]\n    actuation: {",
            "the signal that the rules of hpa write (`actuation: {signal: ...}`)",
        ),
    ],
)
def test_what_a_run_needs_and_the_loop_does_not_state_is_a_gap(old: str, new: str, needs: str) -> None:
    draft, loop = drafted(TEXT.replace(old, new))
    assert loop is None
    assert [(gap.of, gap.needs) for gap in draft.gaps] == [("hpa", needs)]


@pytest.mark.parametrize(
    ("stated", "low", "high"),
    [("", 2, 10), (", from: 5", 5, 5), (", from: 3 .. 4", 3, 4)],
)
def test_a_command_begins_where_it_is_stated_else_within_the_bounds_of_its_writers(
    stated: str, low: int, high: int
) -> None:
    model = elaborate(read_text(TEXT.replace("bounds: 2 .. 10", f"bounds: 2 .. 10{stated}"), "d.yaml"))
    assert model.commands["pool.replicas"].initial == Interval(Fraction(low), Fraction(high))


def test_a_loop_that_writes_a_state_is_a_gap_and_does_not_act() -> None:
    model = elaborate(read_text(TEXT + 'components:\n  pool: {state: "replicas\' = 0", from: 3}\n', "d.yaml"))
    assert [gap.needs for gap in model.gaps] == ["an input of the state that hpa writes: it sets pool.replicas"]
    assert model.loops == ()
    assert model.commands == {}
