"""Renders an analysis as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from coherence.base.number_text import render_clock, render_seconds
from coherence.loops.analysis.blame import Subset
from coherence.loops.analysis.design_analysis import DesignAnalysis, GroupAnalysis, PointFigures
from coherence.loops.analysis.render_flows import render_flows
from coherence.loops.analysis.render_margins import render_margins
from coherence.loops.analysis.retry_products import Amplified
from coherence.loops.analysis.retuning import Retuning
from coherence.loops.analysis.text_tables import aligned_rows
from coherence.loops.designs.group_runs import RestingCommand, RunVerdict
from coherence.loops.designs.lap_roots import Roots
from coherence.loops.designs.operating_points import Point
from coherence.loops.settling.settling_proofs import FROM_EVERY_START, FROM_ITS_START
from coherence.loops.settling.swings_without_rest import IN_FLOATS
from coherence.model.model import Model
from coherence.simulate.execute.timeline import shown

WORDS = {"oscillates": "never settles", "settles": "settles", "undecided": "undecided"}
MOST_NAMES = 6


def text(path: str, analysis: DesignAnalysis, calls: Sequence[Amplified], tunings: Sequence[Sequence[Retuning]]) -> str:
    """Renders the analysis of a design."""
    lines = [f"{path}: {_counted(len(analysis.groups), 'group')} of loops in feedback"]
    for group, tuning in zip(analysis.groups, tunings, strict=True):
        lines += ["", *_group(group), *_tunings(tuning)]
    if analysis.alone:
        lines += ["", "In no feedback:", *(f"  {name}: {why}" for name, why in analysis.alone)]
    if analysis.flows:
        lines += ["", "Flows in feedback, without a loop:"]
        lines += [f"  {line}" for answer in analysis.flows for line in render_flows(answer)]
    if calls:
        lines += ["", "Retries, tries at the end for one request when every try fails:"]
        lines += aligned_rows([_call(chain) for chain in calls])
    if analysis.assumptions:
        lines += ["", "Assumed:", *(f"  {note}" for note in analysis.assumptions)]
    return "\n".join(lines) + "\n"


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count or 'no'} {word}s"


def joined(names: Sequence[str]) -> str:
    """Renders names in a sentence, cut where they are many."""
    if len(names) > MOST_NAMES:
        return f"{', '.join(names[:MOST_NAMES])} and {len(names) - MOST_NAMES} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 2 else names)


def method_of(how: str) -> str:
    """Returns by what an answer was decided: a proof, an execution in floats or an exact one."""
    if how.startswith((FROM_EVERY_START, FROM_ITS_START)):
        return "proof"
    return "execution" if how.startswith(IN_FLOATS) else "exact execution"


def _group(group: GroupAnalysis) -> Iterator[str]:
    model, answer = group.group.model, group.answer
    yield f"{joined(group.group.names)}: {_verdict(group)}"
    rows = [(method_of(answer.how), _exact(group))]
    rows += [(f"  {signal}", _range(model, signal, *ends)) for signal, ends in answer.ranges.items()]
    rows += [(f"  {rest.signal}", _rest(model, rest)) for rest in group.rests]
    if group.from_bounds is not None:
        rows.append(("  from its bounds", _elsewhere(group.from_bounds)))
    if group.subset is not None and len(group.group.names) > 1:
        rows.append(
            ("smallest set", _subset(group.subset, group.group.names, "swings by itself", "never settle together"))
        )
        blamed = (loop for loop in group.group.loops if loop.name in group.subset.names)
        rows += [(f"  {loop.name}", str(loop.source.place)) for loop in blamed]
    if answer.ranges:
        orbit = answer.run.orbit if answer.run else None
        lap = orbit.lap[-1].after if orbit else {}
        on_and_off = {name for name in group.group.signals if name in group.group.names and orbit and orbit.turns(name)}
        resting = (loop for loop in group.group.loops if loop.signal and loop.name not in on_and_off)
        still = [loop.name for loop in resting if loop.signal not in answer.ranges]
        at = {
            loop.name: f" at {shown(model, loop.signal, lap[loop.signal])}"
            for loop in group.group.loops
            if loop.signal in lap
        }
        rows += [("at rest meanwhile", joined([f"{name}{at.get(name, '')}" for name in still]))] if still else []
    yield from aligned_rows(rows)
    for point in group.points:
        yield from _point(model, point)
    yield from (f"  note: {note}" for note in group.notes)


def _verdict(group: GroupAnalysis) -> str:
    answer = group.answer
    if answer.verdict == "oscillates":
        word = "never settles" if len(group.group.names) == 1 else "never settle"
        return f"{word}, period {render_clock(answer.period)}" if answer.period is not None else word
    if answer.verdict == "settles":
        word = "settles" if len(group.group.names) == 1 else "settle"
        other = group.from_bounds
        if other is not None and other.verdict == "oscillates":
            elsewhere = "never from the ends of the bounds"
            return f"{word} from the stated start, {elsewhere}" + (
                f", period {render_clock(other.period)}" if other.period else ""
            )
        return word
    return f"undecided: {answer.how}"


def _exact(group: GroupAnalysis) -> str:
    answer = group.answer
    if answer.verdict == "undecided":
        return f"undecided: {answer.how}"
    grade = "proved" if answer.proved else "simulated"
    return f"{WORDS[answer.verdict]}, {answer.how} [{grade}]"


def _elsewhere(answer: RunVerdict) -> str:
    if answer.verdict == "oscillates" and answer.period is not None:
        return f"never settles when started at the ends of its bounds, period {render_clock(answer.period)} [proved]"
    if answer.verdict == "settles":
        return "settles when started at the ends of its bounds [simulated]"
    return f"undecided: {answer.how}"


def _range(model: Model, signal: str, low: Fraction, high: Fraction) -> str:
    return f"between {shown(model, signal, low)} and {shown(model, signal, high)}"


def _rest(model: Model, rest: RestingCommand) -> str:
    """Renders `at 6 from 2 min 30 s on, from 1, never below 1 or above 8`."""
    at, first, low, high = (shown(model, rest.signal, n) for n in (rest.at, rest.first, rest.lowest, rest.highest))
    if rest.lowest == rest.highest:
        return f"at {at} all the time"
    return f"at {at} from {render_clock(rest.seconds)} on, from {first}, never below {low} or above {high}"


def _subset(subset: Subset, names: Sequence[str], alone: str, together: str) -> str:
    what = alone if len(subset.names) == 1 else together
    minimal = "; every proper part is stable" if subset.minimal and len(subset.names) > 1 else ""
    if not subset.minimal:
        minimal = "; not shown to be minimal"
    whole = "all of them: " if len(subset.names) == len(names) > 1 else ""
    return f"{whole}{joined(subset.names)} {what}{minimal} ({subset.how})"


def _point(model: Model, figures: PointFigures) -> Iterator[str]:
    yield f"  operating point {_where(model, figures.point)}"
    rows = [
        ("    linear, outside the tolerance" if figures.tolerant else "    linear", f"{figures.verdict}: {figures.why}")
    ]
    rows = [(rows[0][0], f"{rows[0][1]} [linearised]")]
    for index, (name, roots) in enumerate(figures.branches, 1):
        rows.append((f"      branch {index}" if name else "      dominant mode", mode(roots)))
        rows += [("", f"while {name}")] if name else []
    if figures.inside is not None:
        rows.append(("    inside the tolerance", _inside(figures.inside)))
    if figures.pair is not None:
        rows.append(("    the mode goes through", _pair(figures.pair)))
    if figures.subset is not None:
        rows.append(("    smallest unstable set", _subset(figures.subset, (), "alone", "together")))
    if figures.dropped:
        rows += [("    " + ("left out" if k == 0 else ""), line) for k, line in enumerate(_dropped(figures.dropped))]
    yield from aligned_rows(rows, indent="")
    yield from (line for loop in figures.loops for line in render_margins(loop))


def _dropped(names: Sequence[str]) -> list[str]:
    """Renders what was dropped by loop: `hpa: ceil, tolerance, bounds`."""
    by_loop: dict[str, list[str]] = {}
    for name in names:
        what, _, loop = name.rpartition(" of ")
        by_loop.setdefault(loop, []).append(what)
    return [f"{', '.join(dict.fromkeys(whats))} of {loop}" for loop, whats in list(by_loop.items())[:MOST_NAMES]]


def _where(model: Model, point: Point) -> str:
    words = ", ".join(f"{p} = {shown(model, p, v.limit_denominator(10**6))}" for p, v in point.values.items())
    words += f"; {joined(point.acts)} acts there" if point.acts else ""
    words += f"; outside the bounds of {joined(point.outside)}" if point.outside else ""
    if point.basin is not None:
        words += f"; of {_counted(point.basin[1], 'exact run')} {point.basin[0]} came to rest nearest to it"
    return words


def mode(roots: Roots) -> str:
    """Renders a mode: `unstable, grows 1.107 a lap, period 20.9 s, damping -0.17`."""
    parts = [roots.verdict]
    if roots.verdict != "stable" or roots.growth:
        parts.append(f"factor {roots.growth:.4g} a lap")
    else:
        parts.append("dead-beat: at rest after finitely many laps")
    if roots.period is not None:
        parts += [f"period {render_seconds(float(f'{roots.period:.4g}'))}", f"damping {roots.damping:.2g}"]
    return ", ".join(parts)


def _inside(found: Roots) -> str:
    if not found.size:
        return "at rest: no loop acts and nothing else moves"
    return f"the loops do not act; the rest is {mode(found)}"


def _pair(pair: tuple[str, str, float]) -> str:
    one, other, gain = pair
    return f"{one} alone (gain {gain:.3g})" if one == other else f"{one} and {other} (gain {gain:.3g} each way)"


def _call(one: Amplified) -> tuple[str, ...]:
    layers = " x ".join("unlimited" if layer is None else str(layer) for layer in one.layers)
    total = "unlimited" if one.tries is None else f"{float(one.tries):g}"
    return (f"  {' -> '.join(one.path)}", f"{total}{f' = {layers}' if len(one.layers) > 1 else ''}", f"for {one.cause}")


def _tunings(tunings: Sequence[Retuning]) -> Iterator[str]:
    if tunings:
        yield "  retuning:"
    for tuning in tunings:
        yield f"    {tuning.text}"
        for edit in tuning.repair.edits if tuning.repair else ():
            yield f"      {edit.place}: {f'{edit.old} -> ' if edit.old else ''}{edit.new.strip().lstrip(', ')}"
