"""Boundaries between loops and what they act and look at: delays of commands and of readings."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random

import pytest

from coherence.base.errors import InputError
from coherence.checking.weighing import ask_weighed
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.findings.registry import question_modules
from coherence.language.expressions.tree import walk
from coherence.language.reading import read_text
from coherence.model.elaborate import model_of
from coherence.simulate.execute.exact import execute

MODULES = [m for m in question_modules() if any(q.code in ("COH301", "COH305") for q in m.questions)]


def design(walls: str = "", *, inside: str = "none", signal: str = "pool.util", timescale: str = "", count: str = "",
           period: str = "15 s", start: str = "20") -> str:  # fmt: skip
    """The autoscaler of the worked table: no tolerance, no rounding, load of 20 at 100 %, aim 50 %."""
    infrastructure = f"infrastructure: {{boundaries: {{{walls}}}}}\n" if walls else ""
    return f"""coherence: 1
{infrastructure}components: {{pool: {{desired: 0.5 .. 400, load: 20, util: load / desired}}}}
loops:
  hpa:
    inside: {inside}
    target: {{signal: "{signal}", setpoint: 50 %}}
    timescale: {{period: {period}, phase: 0 s{timescale}}}
    actuation: {{signal: pool.desired, from: {start}, bounds: [1, 400.5]{count}}}
"""


def behind(**delays: str) -> str:
    return f"vm: {{around: [pool], {', '.join(f'{key}: {value}' for key, value in delays.items())}}}"


COMMANDED = ", count: commanded"


def findings(text: str) -> dict[str, Finding]:
    return {f.code: f for f in ask_weighed(Subject(read_text(text, "d"), {"d": text}), MODULES)}


def told(text: str) -> str:
    """What COH301 says, without the name of the loop."""
    finding = findings(text)["COH301"]
    words = finding.message.partition("hpa ")[2]
    return words if finding.verdict is not Verdict.UNDECIDED else finding.verdict.value


SETTLES = "settles from its start"
MARGINAL = "never settles: pool.desired between 20 and 80, every 1 min 30 s"
GROWS = "never settles: pool.desired between 1 and 400.5, every 2 min"
AGES = {"0 s": SETTLES, "14 s": SETTLES, "15 s": MARGINAL, "16 s": MARGINAL, "30 s": GROWS, "31 s": GROWS}
LATE = {"0 s": SETTLES, "14 s": SETTLES, "15 s": SETTLES, "16 s": MARGINAL, "30 s": MARGINAL, "31 s": GROWS}


@pytest.mark.parametrize(("delay", "answer"), AGES.items())
def test_readings_across_a_boundary_are_as_old_as_delayed_ones(delay: str, answer: str) -> None:
    """The worked table of a proportional law; z^2 - z + 1 is marginal."""
    wall = design(behind(reading_delay=delay))
    assert told(wall) == answer
    assert told(design(signal=f"delayed(pool.util, {delay})")) == answer


@pytest.mark.parametrize(("delay", "answer"), LATE.items())
def test_commands_across_a_boundary_land_later(delay: str, answer: str) -> None:
    """The same table where the law counts what it commanded: what lands at a sample is delivered before it."""
    wall = design(behind(added_delay=delay), count=COMMANDED)
    assert told(wall) == answer
    assert told(design(timescale=f", lands: {delay}", count=COMMANDED)) == answer


@pytest.mark.parametrize("delay", LATE)
def test_a_law_that_counts_what_landed_is_dead_beat_at_any_delay(delay: str) -> None:
    assert told(design(behind(added_delay=delay))) == SETTLES


RANGES = {
    ("reading_delay", "0 s .. 14 s"): SETTLES,
    ("reading_delay", "0 s .. 30 s"): f"{MARGINAL} (reading_delay of vm from 15 s on)",
    ("added_delay", "0 s .. 15 s"): SETTLES,
    ("added_delay", "0 s .. 30 s"): f"{MARGINAL} (added_delay of vm above 15 s)",
}


@pytest.mark.parametrize(("key", "delay", "answer"), [(*row, answer) for row, answer in RANGES.items()])
def test_a_range_of_delays_is_one_unknown_constant_and_is_answered_for_each(key: str, delay: str, answer: str) -> None:
    text = design(behind(**{key: delay}), count=COMMANDED)
    assert told(text) == answer
    finding = findings(text)["COH301"]
    if answer == SETTLES:
        assert f"{key} of vm = {delay}: one unknown constant each" in finding.assumptions
    else:
        assert finding.certainty == "possible"
        assert f"{key} of vm = {'15 s' if key == 'reading_delay' else '22.5 s'}" in finding.assumptions


def test_the_landing_of_the_loop_itself_is_answered_as_that_of_a_boundary() -> None:
    for (key, delay), answer in RANGES.items():
        if key == "added_delay":
            text = design(timescale=f", lands: {delay}", count=COMMANDED)
            assert told(text) == answer.replace("added_delay of vm", "lands of hpa")


def test_two_open_delays_are_answered_for_each_pair() -> None:
    assert told(design(behind(added_delay="0 s .. 6 s", reading_delay="0 s .. 9 s"), count=COMMANDED)) == SETTLES
    text = design(behind(added_delay="0 s .. 6 s", reading_delay="0 s .. 10 s"), count=COMMANDED)
    conflict = findings(text)["COH301"]
    assert conflict.verdict is Verdict.CONFLICT
    ages = [words.partition(" = ")[2] for words in conflict.assumptions if "delay of vm" in words]
    assert sum(Fraction(age.removesuffix(" s")) for age in ages) > 15


def test_a_conflict_at_every_delay_of_a_range_is_certain_and_names_the_delay_of_its_run() -> None:
    finding = findings(design(behind(reading_delay="16 s .. 29 s"), count=COMMANDED))["COH301"]
    assert (finding.verdict, finding.certainty) == (Verdict.CONFLICT, "certain")
    assert "reading_delay of vm = 16 s" in finding.assumptions


def test_a_conflict_that_rests_on_a_range_of_a_part_asks_for_the_value() -> None:
    """The part `vgpu` says 0 to 19 ms; a loop every 15 ms is marginal from 15 ms on, as in the table."""
    wall = "vm: {uses: vgpu, around: [pool], capacity_fraction: 100 %, memory_fraction: 100 %, DELAYS}"
    text = design(wall.replace(", DELAYS", ""), count=COMMANDED, period="15 ms")
    finding = findings(text)["COH301"]
    assert finding.verdict is Verdict.UNDECIDED
    assert "needs added_delay of vm, of which a part only says 0 ms .. 19 ms" in finding.message
    stated = wall.replace("DELAYS", "added_delay: 18 ms")
    assert told(design(stated, count=COMMANDED, period="15 ms")).startswith("never settles")
    stated = stated.replace("18 ms", "14 ms")
    assert "; without it: hpa settles" in findings(design(stated, count=COMMANDED, period="15 ms"))["COH301"].message


def random_ranges(count: int) -> Iterator[tuple[tuple[Fraction, ...], tuple[Fraction, ...], Fraction]]:
    random = Random(20)  # noqa: S311
    for _ in range(count):
        period = Fraction(random.choice([10, 15, 20]))
        late, old = (sorted(Fraction(random.randint(0, 60), 2) for _ in range(2)) for _ in range(2))
        which = random.randrange(3)
        yield (tuple(late) if which else (late[0],)), (tuple(old) if which != 1 else (old[0],)), period


@pytest.mark.slow
@pytest.mark.parametrize(("late", "old", "period"), list(random_ranges(12)))
def test_verdicts_over_ranges_are_those_of_the_definitions_at_delays_drawn_within(
    late: tuple[Fraction, ...], old: tuple[Fraction, ...], period: Fraction
) -> None:
    """Proved: every delay that is drawn settles.  Conflict: where it is told for one range, each drawn one agrees."""
    words = [" .. ".join(f"{float(end)} s" for end in ends) for ends in (late, old)]
    text = design(behind(added_delay=words[0], reading_delay=words[1]), count=COMMANDED, period=f"{period} s")
    finding, random = findings(text)["COH301"], Random(21)  # noqa: S311
    settled, shares = [], {tuple(Fraction(random.choice([0, n, 60]), 60) for _ in range(2)) for n in range(60)}
    for share in shares:
        at = [ends[0] + (ends[-1] - ends[0]) * part for ends, part in zip((late, old), share, strict=True)]
        rest = list(course(at[0], at[1], period, Fraction(20), 120))[-20:]
        settled.append(max(abs(value - 40) for value in rest) < Fraction(1, 100))
    assert finding.verdict is (Verdict.PROVED if all(settled) else Verdict.CONFLICT)
    assert finding.certainty in (["certain"] if not any(settled) else ["possible"] if not all(settled) else [""])


def test_the_repaired_twin_runs_the_loop_on_the_side_of_what_it_scales() -> None:
    walls = behind(reading_delay="20 s", added_delay="20 s", gain="50 %")
    apart, beside = findings(design(walls)), findings(design(walls, inside="vm"))
    assert apart["COH301"].verdict is Verdict.CONFLICT
    assert beside["COH301"].verdict is Verdict.PROVED
    assert "no loop acts or looks across the boundary vm" in beside["COH301"].assumptions


def lowered(text: str) -> list[tuple[object, ...]]:
    """Returns what engines read of the loops of a design."""
    keys = ("period", "phase", "trigger", "enter", "leave", "law", "signal", "by", "to", "measured", "setpoint",
            "ready", "bounds", "lands", "counts_commanded", "rules", "integer")  # fmt: skip
    return [tuple(getattr(loop, key) for key in keys) for loop in model_of(read_text(text, "d")).loops]


@pytest.mark.parametrize("inside", ["none", "vm", "pool"])
def test_a_boundary_without_delays_changes_nothing_that_an_engine_reads(inside: str) -> None:
    plain = design()
    neutral = design(behind(reading_delay="0 s", added_delay="0 s", gain="100 %"), inside=inside)
    assert lowered(neutral) == lowered(plain)
    theirs, ours = findings(neutral), findings(plain)
    assert {c: (f.verdict, f.message) for c, f in theirs.items()} == {
        c: (f.verdict, f.message) for c, f in ours.items()
    }


def test_delays_of_several_boundaries_of_the_text_and_of_the_loop_add() -> None:
    walls = (
        behind(reading_delay="3 s", added_delay="5 s") + ", zone: {around: [vm], reading_delay: 4 s, added_delay: 6 s}"
    )
    signal = "delayed(pool.util, 2 s)"
    by_hand = design(signal="delayed(pool.util, 9 s)", timescale=", lands: 12 s")
    assert lowered(design(walls, signal=signal, timescale=", lands: 1 s")) == lowered(by_hand)
    only_zone = design(signal="delayed(pool.util, 5 s)", timescale=", lands: 5 s")
    within = "vm, own: {around: [front], reading_delay: 1 s}"
    assert lowered(design(walls + ", " + within.partition(", ")[2], inside="vm", signal=signal)) != lowered(only_zone)
    assert lowered(design(walls, inside="zone", signal=signal)) == lowered(only_zone)
    assert lowered(design(walls, inside="vm", signal=signal)) == lowered(design(signal=signal))


TWO = """coherence: 1
infrastructure: {boundaries: {vm: {around: [pool], added_delay: 7 s, reading_delay: 3 s}}}
workload: {users: {rate: 10 req/s}}
components: {pool: {size: 1 .. 9, most: 8, load: size * 2}, front: {copies: 1 .. 9, start: 2}}
loops:
  in:
    inside: vm
    trigger: "pool.load > pool.most and FRONT > 1 for 10 s"
    timescale: {period: 10 s}
    actuation: {signal: front.copies, by: 1, bounds: [1, 9]}
  out:
    inside: none
    target: {signal: "LOAD", setpoint: 4, sensor: [scrape 15 s]}
    trigger: "SIZE > 0 and pool.most > 1"
    timescale: {period: 10 s}
    actuation: {signal: pool.size, to: front.copies, bounds: [1, 9]}
"""
ACROSS = {"FRONT": "front.copies", "LOAD": "pool.load", "SIZE": "pool.size"}


def test_each_loop_sees_what_is_across_late_and_what_is_beside_it_or_constant_at_once() -> None:
    text, by_hand = TWO, TWO.replace("inside: vm", "").replace("inside: none", "").replace("10 s}", "10 s, lands: 7 s}")
    for word, path in ACROSS.items():
        text, by_hand = text.replace(word, path), by_hand.replace(word, f"delayed({path}, 3 s)")
    assert lowered(text) == lowered(by_hand)
    seen = text.replace("pool.size > 0", "pool.load > 0")
    (trigger,) = [loop.trigger for loop in model_of(read_text(seen, "d")).loops if loop.name == "out"]
    measured = model_of(read_text(by_hand, "d")).loops[1].measured
    assert trigger is not None
    assert measured in list(walk(trigger))


def test_a_boundary_is_lowered_only_where_all_loops_at_it_say_where_they_run() -> None:
    unplaced = TWO.replace("inside: vm", "")
    for word, path in ACROSS.items():
        unplaced = unplaced.replace(word, path)
    assert {loop[13] for loop in lowered(unplaced)} == {0}


def test_an_eviction_across_a_boundary_says_where_it_comes_from_too() -> None:
    evicting = """  spread:
    trigger: pool.load > 30
    timescale: {period: 15 s}
    actuation: {evict: pool}
"""
    placed = design(behind(added_delay="30 s"))
    assert {loop[13] for loop in lowered(placed)} == {30}
    assert {loop[13] for loop in lowered(placed + evicting)} == {0}
    assert {loop[13] for loop in lowered(placed + evicting.replace("timescale", "inside: vm\n    timescale"))} == {30}


@pytest.mark.parametrize(("key", "value"), [("noise", "-5 ms .. 5 ms"), ("noise", "5 %"), ("noise", "1 % .. 5 %")])
def test_what_is_not_lowered_takes_proofs_across_it_back_also_of_a_loop_inside(key: str, value: str) -> None:
    for text in (
        design(behind(added_delay="1 s", **{key: value})),
        design(behind(added_delay="1 s", **{key: value}).replace("pool", "other"), inside="vm"),
    ):
        answer = findings(text)["COH301"]
        assert answer.verdict is Verdict.UNDECIDED
        assert f"boundaries.vm.{key}" in answer.message


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ("wm", "'wm' is nothing that a loop runs inside"),
        ("[none, vm]", "'hpa' runs inside of something and of nothing"),
    ],
)
def test_a_loop_that_cannot_run_there_is_refused(inside: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        read_text(design(behind(added_delay="1 s"), inside=inside), "d")
    (problem,) = error.value.problems
    assert problem.message == message


@pytest.mark.parametrize("value", ["-1 s", "3", "pool.load"])
def test_a_delay_of_a_boundary_is_a_time(value: str) -> None:
    with pytest.raises(InputError):
        read_text(design(behind(added_delay=value)), "d")


def course(late: Fraction, old: Fraction, period: Fraction, start: Fraction, samples: int) -> Iterator[Fraction]:
    """Yields what has landed after each sample, by the definitions alone: commands on their way and what they bring."""
    written: list[Fraction] = []

    def holds(time: Fraction) -> Fraction:
        landed = (time - late) // period if late else -(-time // period) - 1  # the last that has landed by then
        return written[min(landed, len(written) - 1)] if written and landed >= 0 else start

    for k in range(samples):
        now = k * period
        before = written[-1] if written else start
        written.append(min(max(before * (20 / holds(now - old)) * 2, Fraction(1)), Fraction(801, 2)))
        yield written[-1] if not late else holds(now)


def random_walls(count: int) -> Iterator[tuple[Fraction, Fraction, Fraction, Fraction]]:
    random = Random(19)  # noqa: S311
    for _ in range(count):
        period = Fraction(random.choice([10, 15, 20]))
        late, old = (Fraction(random.choice([0, 0, 3, 10, 15, 22, 30])) for _ in range(2))
        yield late, old, period, Fraction(random.choice([5, 10, 20, 80]))


@pytest.mark.parametrize(("late", "old", "period", "start"), list(random_walls(24)))
def test_runs_and_verdicts_are_those_of_the_definitions(
    late: Fraction, old: Fraction, period: Fraction, start: Fraction
) -> None:
    text = design(behind(added_delay=f"{late} s", reading_delay=f"{old} s"), count=COMMANDED,
                  period=f"{period} s", start=str(start))  # fmt: skip
    expected = list(course(late, old, period, start, 120))
    instants = execute(model_of(read_text(text, "d")), until=119 * period)
    at_samples = {instant.time: instant.after["pool.desired"] for instant in instants}
    assert [at_samples[k * period] for k in range(120)] == expected
    answer = findings(text)["COH301"]
    settled = max(abs(value - 40) for value in expected[-20:]) < Fraction(1, 100)
    assert answer.verdict is (Verdict.PROVED if settled else Verdict.CONFLICT)
