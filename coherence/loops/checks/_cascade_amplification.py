"""Answers of `cascade-amplification`: how a swing of the input grows from loop to loop along a chain."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_clock
from coherence.base.places import Place
from coherence.base.polynomials import count_roots
from coherence.findings.finding import Evidence, Finding, Grade
from coherence.findings.question_input import Question, Subject
from coherence.loops.checks._groups import Numbers, runs_of, smooth, tried, without, witnessed
from coherence.loops.checks._moving_inputs import Wave, wave
from coherence.loops.checks._responses import FrequencyResponse, ResponsePeak, driven, peak, response, system
from coherence.loops.designs.groups import middle, place
from coherence.loops.designs.linear import skeleton
from coherence.model.model import Model, SampledLoop
from coherence.simulate.execute.lookback import durations
from coherence.simulate.execute.slices import blocked, influences, reads, sliced
from coherence.simulate.execute.timeline import told_choices

THRESHOLD, MOST_CHAIN, MOST_SOURCES = 2.0, 6, 8


@dataclass(frozen=True)
class LoopChain:
    """Loops of which each reads what the one before writes; `cut`: it goes on beyond MOST_CHAIN loops."""

    loops: tuple[SampledLoop, ...]
    cut: bool


@dataclass(frozen=True)
class Cascade:
    """A chain of loops, the input at its head, the peak of the last command per input, and the gain of each hop."""

    chain: LoopChain
    model: Model
    source: str
    peak: ResponsePeak
    hops: tuple[float, ...]
    dropped: tuple[str, ...]

    @property
    def loops(self) -> tuple[SampledLoop, ...]:
        return self.chain.loops


def answers(question: Question, subject: Subject) -> Iterator[Finding]:
    """Yields one answer per longest chain of loops with a smooth law and each input that it amplifies.

    A chain or a list of inputs that is cut, and amplifies nothing as far as it was followed, is undecided.
    """
    for chain in chains(subject.model):
        part = sliced(subject.model, (chain.loops[-1].signal,))
        stuck = part.inputs or blocked(subject.model, (chain.loops[-1].signal,))
        if stuck or not all(smooth(x) for x in part.loops):
            continue
        sources = _sources(part, chain.loops[0])
        tried_sources = sources[:MOST_SOURCES]
        resonances = [tried(cascade, part, chain, source) for source in tried_sources]
        amplified = [
            r for r in resonances if r is not None and r.peak.low > THRESHOLD and sum(x > 1 for x in r.hops) > 1
        ]
        yield from (_answer(question, subject, resonance) for resonance in amplified)
        beyond = [f"loops after the first {MOST_CHAIN}"] if chain.cut else []
        beyond += [f"{len(sources) - MOST_SOURCES} more inputs"] if len(sources) > MOST_SOURCES else []
        if beyond and not amplified:
            names = tuple(loop.name for loop in chain.loops)
            message = f"what {' -> '.join(names)} makes of a swing: {' and '.join(beyond)} were not followed"
            yield question.undecided(message, tuple(place(loop) for loop in chain.loops), names)


def chains(model: Model) -> Iterator[LoopChain]:
    """Yields paths of loops, each reading what the one before writes and not the other way round, that cannot be
    prolonged, or that are cut.
    """
    acting = [loop for loop in model.loops if loop.signal]
    seen = {loop.name: influences(model, reads(loop)) for loop in acting}
    after = {
        one.name: [b for b in acting if b.name != one.name and _next(model, acting, seen, one, b)] for one in acting
    }
    heads = [x for x in acting if not any(x in following for following in after.values())]
    stack: list[tuple[SampledLoop, ...]] = [(head,) for head in heads]
    while stack:
        path = stack.pop()
        more = [b for b in after[path[-1].name] if b not in path]
        if len(path) < MOST_CHAIN and more:
            stack += [(*path, b) for b in more]
        elif len(path) > 1:
            yield LoopChain(path, bool(more))


def _next(
    model: Model, acting: list[SampledLoop], seen: dict[str, frozenset[str]], upper: SampledLoop, other: SampledLoop
) -> bool:
    """Returns whether `other` reads what `upper` writes, not through a third loop, and `upper` nothing of `other`."""
    if upper.signal not in seen[other.name] or other.signal in seen[upper.name] or upper.signal == other.signal:
        return False
    between = (
        x for x in acting
        if x.name not in (upper.name, other.name) and x.signal in seen[other.name] and upper.signal in seen[x.name]
        and upper.signal not in _direct(model, other)
    )  # fmt: skip
    return not any(True for _ in between)


def _direct(model: Model, loop: SampledLoop) -> frozenset[str]:
    """Returns what a loop reads without any other loop in between."""
    return influences(without(model, tuple(x for x in model.loops if x.name != loop.name)), reads(loop))


def _sources(model: Model, head: SampledLoop) -> list[str]:
    """Constants that the head reads and that may move: those that vary, else rates of arrival, else none."""
    fixed, seen = durations(model), influences(model, reads(head))
    read = [c for p, c in model.constants.items() if p in seen and p not in fixed]
    varies = [c.path for c in read if c.varies]
    return varies or [c.path for c in read if c.path.endswith(".rate")]


def cascade(model: Model, chain: LoopChain, source: str) -> Cascade | None:
    """Returns the chain's response to a small swing of the source, around where the model settles."""
    run = runs_of(model)[0]
    start = run.choices.values.get(source, model.constants[source].range.low or Fraction(0))
    near = {**middle(model, run), source: start}
    signals = [loop.signal for loop in chain.loops]
    driven_system = system(driven(model, source), source, signals, near)
    if driven_system is None or not driven_system.point[source]:
        return None
    responses = [response(driven_system, signal) for signal in signals]
    if not all(_decays(response) for response in responses) or not all(driven_system.point[s] for s in signals):
        return None
    scales = [abs(driven_system.point[source] / driven_system.point[s]) for s in signals]
    last = FrequencyResponse([scales[-1] * x for x in responses[-1].numerator], responses[-1].denominator)
    top = peak(last, driven_system.lap)
    if top is None:
        return None
    gains = [abs(response.at(top.angle)) * float(scale) for response, scale in zip(responses, scales, strict=True)]
    if not all(gains):
        return None
    hops = tuple(gain / before for gain, before in zip(gains, [1.0, *gains[:-1]], strict=True))
    return Cascade(chain, model, source, top, hops, skeleton(model)[1])


def _decays(one: FrequencyResponse) -> bool:
    counts = count_roots(one.denominator)
    return counts.outside == 0 and counts.on == 0


def _answer(question: Question, subject: Subject, cascade: Cascade) -> Finding:
    finite = math.isfinite(cascade.peak.period)
    period = Fraction(cascade.peak.period) if finite else Fraction(0)
    names = tuple(loop.name for loop in cascade.loops)
    broken = wave(subject, cascade.model, period) if finite else None
    conflict = _conflict(question, cascade, names, broken) if broken else None
    if conflict is not None:
        return conflict
    rhythm = f"of {render_clock(Fraction(round(period * 10), 10))}" if finite else "that lasts"
    product = " x ".join(f"{hop:.3g}" for hop in cascade.hops)
    chain = " -> ".join(names)
    message = (
        f"{chain} amplifies a swing of {cascade.source} {rhythm} {cascade.peak.low:.3g} times, hop by hop {product}"
    )
    longer = (f"loops after the first {MOST_CHAIN} of the chain",) if cascade.chain.cut else ()
    dropped = (*cascade.dropped, *longer)
    left = "left out: " + ", ".join(dropped) if dropped else ""
    method = "peak of the exact transfer function of one lap"
    evidence = Evidence(Grade.LINEARISED, method, numbers=_numbers(cascade), bound=left)
    return question.note(message, _places(cascade), names, evidence)


def _places(found: Cascade) -> tuple[Place, ...]:
    source = found.model.constants[found.source].place.labelled("this swings")
    return (*(place(loop) for loop in found.loops), source)


def _numbers(cascade: Cascade) -> Numbers:
    numbers: Numbers = {"peak gain": (cascade.peak.low, ""), "proved below": (cascade.peak.high, "")}
    if math.isfinite(cascade.peak.period):
        numbers["period"] = (cascade.peak.period, "s")
    for loop, hop in zip(cascade.loops, cascade.hops, strict=True):
        numbers[f"gain of {loop.name}"] = (hop, "")
    return numbers


def _conflict(question: Question, cascade: Cascade, names: tuple[str, ...], moved: Wave) -> Finding | None:
    broken, model = moved.broken, cascade.model
    method = "exact execution with a moving input"
    evidence = witnessed(model, broken.choices, broken.instants, method, _numbers(cascade))
    if evidence is None:
        return None
    product = " x ".join(f"{hop:.3g}" for hop in cascade.hops)
    message = (
        f"{moved.words} breaks `{broken.promise.text}` after {render_clock(broken.instants[-1].time)}: "
        f"{' -> '.join(names)} amplifies it, hop by hop {product}"
    )
    places = (*_places(cascade), broken.promise.place.labelled("this promise"))
    return question.conflict(
        message, places, (*names, broken.promise.name), evidence, certain=False,
        assumptions=(*told_choices(model, broken.choices), *model.abstractions),
    )  # fmt: skip
