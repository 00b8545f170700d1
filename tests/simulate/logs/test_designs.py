"""Facts of a recorded run as a design: every fact stands in it, and the executor reads it back."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model, SampledLoop
from coherence.simulate.execute.exact import Choices, execute
from coherence.simulate.logs.designs import _by_age, written
from coherence.simulate.logs.facts import Pod, ReplayFacts, Write
from coherence.simulate.logs.manifests import Behavior

F = Fraction
POD = Pod("web-1", 3, 20, 28, 38, ((20, F(0)), (28, F(101, 100)), (38, F(1))))
FACTS = ReplayFacts(
    name="C1", origin=1705181295, end=600, first_sync=15, least=2, most=4, setpoint=F(1, 2),
    behavior=Behavior("hpa.yaml", None), writes=(Write(0, 3, "a.yaml"), Write(40, 2, "b.yaml")),
    poll=10, placeable=(4, 4), pods=(POD, replace(POD, name="web-2", runs=7)),
)  # fmt: skip
BEHAVING = replace(
    FACTS, behavior=Behavior("hpa.yaml", F(90), ("{by: 4, per: 15 s, way: up}", "{percent: 100 %, per: 15 s, way: up}"))
)


def model_of(facts: ReplayFacts) -> Model:
    return elaborate(read_text(written(facts), "replay.yaml"))


def loop_of(facts: ReplayFacts, name: str) -> SampledLoop:
    return next(loop for loop in model_of(facts).loops if loop.name == name)


def test_every_possible_replica_is_a_pod_and_those_never_measured_live_as_the_last() -> None:
    design = read_text(written(FACTS), "replay.yaml")
    assert [name for name in design.components if name.startswith("pod")] == ["pod1", "pod2", "pod3", "pod4"]
    text = written(FACTS)
    assert text.count("runs: 3 s") == 1
    assert text.count("runs: 7 s") == 3
    assert text.count("# measured: web-2") == 3


def test_the_reading_sums_all_pods() -> None:
    outputs = model_of(FACTS).outputs
    for key, output in (("counted", "counts"), ("missing", "missing"), ("used", "used")):
        assert f"    {key}: " + " + ".join(f"pod{n}.{output}" for n in range(1, 5)) in written(FACTS).splitlines()
        assert f"app.{key}" in outputs


def test_commands_set_the_replicas_once_at_their_times() -> None:
    first, second = (loop_of(FACTS, name) for name in ("apply1", "apply2"))
    assert (first.phase, second.phase) == (F(0), F(40))
    instants = execute(model_of(FACTS), Choices(), until=F(40))
    commanded = {instant.time: instant.after["app.replicas"] for instant in instants}
    assert (commanded[F(0)], commanded[F(40)]) == (3, 2)


@pytest.mark.parametrize(
    ("first", "last", "text"),
    [(28, 38, "counted: 28 s .. 38 s,"), (38, 38, "counted: 38 s,"), (40, 38, "counted: 38 s,")],
)
def test_the_age_from_which_a_pod_counts_is_a_range_where_it_is_open(first: int, last: int, text: str) -> None:
    pod = replace(POD, counted_first=first, counted_last=last)
    assert text in written(replace(FACTS, pods=(pod,)))


@pytest.mark.parametrize(
    ("placeable", "text"),
    [
        ((4, 4), None),
        ((6, 6), None),
        ((3, 3), "placeable: 3,"),
        ((2, 4), "placeable: 2 .. 4,"),
        ((2, 3), "placeable: 2 .. 3,"),
    ],
)
def test_nodes_that_hold_fewer_pods_are_told(placeable: tuple[int, int], text: str | None) -> None:
    design = written(replace(FACTS, placeable=placeable))
    assert ("placeable" in design) is (text is not None)
    assert text is None or design.count(text) == 4


def test_a_behavior_becomes_windows_and_rates() -> None:
    hpa = loop_of(BEHAVING, "hpa")
    assert (hpa.phase, hpa.hold_down, hpa.bounds.low, hpa.bounds.high) == (
        F(15),
        F(75),
        F(2),
        F(4),
    )  # what is 90 s old counts no more
    assert [(rate.by, rate.percent, rate.per) for rate in hpa.rates if rate.up] == [
        (F(4), None, F(15)), (None, F(1), F(15)),
    ]  # fmt: skip
    assert "setpoint: 50 %" in written(BEHAVING)


def test_without_a_behavior_the_classic_autoscaler_doubles_or_goes_to_four() -> None:
    text = written(FACTS)
    assert "uses: kubernetes_hpa_classic" in text
    assert 'to: "min(app.noted, max(2 * app.replicas, 4)) if app.replicas >= 2 and app.replicas <= 4' in text
    assert (loop_of(FACTS, "hpa").bounds.low, loop_of(FACTS, "hpa").bounds.high) == (F(2), F(4))
    assert loop_of(FACTS, "note").phase == 15


def test_the_time_of_second_nought_is_told() -> None:
    assert "Time 0 is 2024-01-13T21:28:15Z." in written(FACTS)


READINGS = st.lists(st.tuples(st.integers(1, 300), st.fractions(0, 3, max_denominator=100)), min_size=1, max_size=5)


@pytest.mark.slow
@given(READINGS.map(sorted), st.integers(0, 400))
def test_a_reading_stands_until_the_age_of_the_next(readings: list[tuple[int, Fraction]], age: int) -> None:
    """Before the first reading the first one stands; shares with no end in decimals are written to ten digits."""
    readings = list({moment: (moment, F(round(share * 100), 100)) for moment, share in readings}.values())
    pod = replace(POD, cpu=tuple(readings))
    expected = next((share for moment, share in reversed(readings) if moment <= age), readings[0][1])
    design = f"coherence: 1\ncomponents: {{it: {{age: {age} s, cpu: {_by_age('age', pod)}}}}}\nloops: {LOOP}\n"
    instants = execute(elaborate(read_text(design)), Choices(), until=F(0))
    assert instants[0].after["seen.cpu"] == expected


LOOP = "{look: {timescale: {period: 1 s}, actuation: {signal: seen.cpu, law: set, to: it.cpu, from: 0}}}"
