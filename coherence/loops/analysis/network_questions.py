"""Asks more of a network of blocks: critical gain and delay, windows, peaks, interaction, a map of gain and delay.

    critical gain     the factor on the gains of some blocks together at which the verdict first changes
    critical delay    the extra delay of some blocks together at which it first changes
    interaction       of the plant that some blocks see between their outputs and their inputs, P(0) with those blocks
                      taken out: relative gains, Niederlinski's index, singular values; and the disk margin of all of
                      those loops together
    map               the windows of extra delay of one block in which the network is stable, gain by gain

Each is an answer of its own (`Answer`): a name, numbers for programs and lines for people; where the time ends, those
that were found stand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.base.errors import UsageError, did_you_mean
from coherence.base.number_text import render_seconds
from coherence.loops.analysis.delay_margins import delay_margin
from coherence.loops.analysis.network_analysis import any_stability, is_sampled, scaled
from coherence.loops.analysis.render_margins import disk_json, render_at, render_disk
from coherence.loops.analysis.render_network import finite, peak_json
from coherence.loops.margins.interaction import niederlinski, relative_gains
from coherence.loops.margins.interaction_disk import multiloop_disk
from coherence.loops.margins.peaks import amplification
from coherence.loops.margins.stability_windows import Windows, delay_windows, gain_windows
from coherence.loops.multirate import critical_gain as sampled_gain
from coherence.loops.multirate.sampled_system import Multirate, exactly
from coherence.loops.networks import critical
from coherence.loops.networks.network import Block, Coupling, Network, network

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_GAIN = 1e6
LONGEST = 100.0  # times the slowest time of the network
MAP_GAINS = 24
SINGULAR = 1e12  # condition from which a steady gain is none
KINDS = ("critical gain", "critical delay", "gain windows", "delay windows", "peak", "interaction", "map")


@dataclass(frozen=True)
class NetworkQuestion:
    """`kind` is one of `KINDS`, about some `blocks` together; of a peak `source` and `target` (None: all blocks)."""

    kind: str
    blocks: tuple[str, ...] = ()
    up_to: float | None = None
    source: str | None = None
    target: str | None = None


@dataclass(frozen=True)
class Answer:
    """What is known of a question: `numbers` for programs, `lines` for people; `open`: it is not answered."""

    kind: str
    blocks: tuple[str, ...]
    numbers: Mapping[str, Any]
    lines: tuple[str, ...]
    open: bool = False


def answered(net: Network | Multirate, question: NetworkQuestion) -> Answer:
    """Returns the answer to one question.  Raises UsageError for unknown blocks."""
    if isinstance(net, Multirate):
        return unanswered(question.kind, question.blocks, "it is asked of blocks, with a rate where they are sampled")
    blocks = question.blocks or (net.names if len(net.names) == 1 else ())
    for name in (*blocks, question.source, question.target):
        if name is not None and name not in net.index:
            raise UsageError(f"'{name}' is no block: {did_you_mean(name, net.names)}")
    if not blocks and question.kind != "peak":
        raise UsageError(f"the {question.kind} is that of some blocks together: name them with --of A,B")
    try:
        return ASKED[question.kind](net, replace(question, blocks=blocks))
    except UsageError as error:
        return unanswered(question.kind, blocks, str(error))


def unanswered(kind: str, blocks: tuple[str, ...], why: str) -> Answer:
    """Returns an answer that says why there is none."""
    return Answer(kind, blocks, {"reason": why}, (f"undecided: {why}",), open=True)


def _critical_gain(net: Network, question: NetworkQuestion) -> Answer:
    most = question.up_to or MOST_GAIN
    if is_sampled(net):
        factor = sampled_gain.critical_gain(lambda k: scaled(net, question.blocks, k), low=1.0, high=min(most, 1e4))
        return _of_critical(question, factor if math.isfinite(factor) else None, None, None, "found in even ratios")
    answer = critical.critical_gain(net, question.blocks, highest=most)
    return _of_critical(question, answer.at, answer.proved, answer.frequency, answer.reason)


def _critical_delay(net: Network, question: NetworkQuestion) -> Answer:
    if is_sampled(net):
        return _sampled_delay(net, question)
    most = question.up_to or LONGEST * slowest(net)
    delays = {net.blocks[net.index[name]].delay for name in question.blocks}
    if len(delays) == 1:
        (own,) = delays
        answer, names = critical.critical_delay(net, question.blocks, highest=own + most), question.blocks
    else:
        own, names = 0.0, tuple(f"extra delay of {name}" for name in question.blocks)
        answer = critical.critical_delay(_with_extra(net, question.blocks), names, highest=most)
    at = None if answer.at is None else answer.at - own
    return _of_critical(question, at, answer.proved - own, answer.frequency, answer.reason)


def _sampled_delay(net: Network, question: NetworkQuestion) -> Answer:
    def stable(delay: Fraction) -> bool:
        later = (replace(b, delay=b.delay + float(delay)) if b.name in question.blocks else b for b in net.blocks)
        return any_stability(replace(net, blocks=tuple(later))).verdict == "stable"

    if not stable(Fraction(0)):
        raise UsageError("the network is not stable as it is")
    margin = delay_margin(stable, min(exactly(b.rate) for b in net.blocks if b.rate is not None))
    at = None if margin.unstable is None else float(margin.unstable)
    return _of_critical(question, at, float(margin.stable), None, margin.note)


def _with_extra(net: Network, names: Sequence[str]) -> Network:
    """Returns the network with a block of pure delay behind each of some blocks."""
    extra = {name: f"extra delay of {name}" for name in names}
    blocks = [Block(block, (1.0,), (1.0,)) for block in extra.values()]
    couplings = (replace(c, source=extra.get(c.source, c.source)) for c in net.couplings)
    joins = [Coupling(name, block) for name, block in extra.items()]
    return network([*net.blocks, *blocks], [*couplings, *joins])


def slowest(net: Network) -> float:
    """Returns the longest time in seconds of the network: a delay, a period, or the time of a pole."""
    times = [block.delay for block in net.blocks] + [block.rate or 0.0 for block in net.blocks]
    for block in net.blocks:
        times += [1 / abs(pole) for pole in np.roots(block.denominator) if pole] if block.order else []
        ratio = abs(block.numerator[0] / block.denominator[0])
        times += [ratio ** (-1 / block.order)] if block.order and ratio else []
    return max(times) or 1.0


def _of_critical(
    question: NetworkQuestion, at: float | None, proved: float | None, frequency: float | None, reason: str
) -> Answer:
    what = question.kind.removeprefix("critical ")
    numbers = {
        "at": at, "proved": finite(proved), "frequency_rad_per_s": frequency,
        "unit": "factor" if what == "gain" else "s", "reason": reason,
    }  # fmt: skip
    if at is None:
        upto = f" up to {_amount(proved, what)}" if proved is not None else ""
        line = f"undecided: {reason}" if reason and proved is None else f"none{upto}{f': {reason}' if reason else ''}"
        return Answer(question.kind, question.blocks, numbers, (line,), open=bool(reason))
    return Answer(question.kind, question.blocks, numbers, (f"{_amount(at, what)}{render_at(frequency)}",))


def _amount(number: float, what: str) -> str:
    return f"times {number:.8g}" if what == "gain" else f"{render_seconds(float(f'{number:.6g}'))} more"


def _windows(net: Network, question: NetworkQuestion) -> Answer:
    if len(question.blocks) != 1:
        raise UsageError("windows are of one block: name it")
    (name,) = question.blocks
    if question.kind == "gain windows":
        answer = gain_windows(net, name, highest=question.up_to or 100.0)
    else:
        answer = delay_windows(net, name, question.up_to or LONGEST * slowest(net))
    rows = [
        {"from": w.low, "to": w.high, "verdict": w.stability.verdict, "frequency_rad_per_s": w.frequency}
        for w in answer.windows
    ]
    unit = "factor" if question.kind == "gain windows" else "s"
    alike = (list(group) for _, group in groupby(answer.windows, key=lambda w: w.stability.verdict))
    lines = tuple(f"{_span(g[0].low, g[-1].high, unit)}: {g[0].stability.verdict}" for g in alike)
    numbers = {"unit": unit, "windows": rows, "gap": answer.gap}
    return Answer(question.kind, question.blocks, numbers, lines, open=bool(answer.gap))


def _span(low: float, high: float, unit: str) -> str:
    if unit == "factor":
        return f"times {low:.6g} to {high:.6g}"
    return f"{render_seconds(float(f'{low:.6g}'))} to {render_seconds(float(f'{high:.6g}'))}"


def _peak(net: Network, question: NetworkQuestion) -> Answer:
    source = [question.source] if question.source else None
    target = [question.target] if question.target else None
    answer = amplification(net, inputs=source, outputs=target)
    if answer.peak is None:
        raise UsageError(f"no amplification is given of what is not stable: {answer.stability.reason}")
    peak = answer.peak
    blocks = tuple(name for name in (question.source, question.target) if name)
    line = f"{peak.value:.6g}{render_at(peak.frequency)}, most from {peak.input} to {peak.output}"
    numbers = {**peak_json(peak), "from": peak.input, "to": peak.output}
    return Answer("peak", blocks, numbers, (line,), open=not peak.reached)


def steady_plant(net: Network, blocks: Sequence[str]) -> NDArray[np.float64]:
    """Returns P(0): [i, j] what comes to the input of block i from the output of block j, those blocks taken out.

    Raises UsageError where the rest integrates.
    """
    rest = [block for block in net.blocks if block.name not in blocks]
    top, bottom = (np.array([getattr(b, part)[-1] for b in rest]) for part in ("numerator", "denominator"))
    row = {block.name: number for number, block in enumerate(rest)}
    at = {name: number for number, name in enumerate(blocks)}
    inner, enters = np.zeros((len(rest), len(rest))), np.zeros((len(rest), len(blocks)))
    leaves, direct = np.zeros((len(blocks), len(rest))), np.zeros((len(blocks), len(blocks)))
    for c in net.couplings:
        table = (direct if c.source in at else leaves) if c.target in at else (enters if c.source in at else inner)
        to = at[c.target] if c.target in at else row[c.target]
        table[to, at[c.source] if c.source in at else row[c.source]] += float(c.gain)
    still = np.diag(bottom) - top[:, None] * inner  # of denominator(0) y = numerator(0) u
    if rest and np.linalg.cond(still) > SINGULAR:
        raise UsageError("the plant integrates: it has no steady gain")
    return np.asarray(direct + leaves @ np.linalg.solve(still, top[:, None] * enters))


def _interaction(net: Network, question: NetworkQuestion) -> Answer:
    plant = steady_plant(net, question.blocks)
    sizes = np.linalg.svd(plant, compute_uv=False)
    relative = np.real(relative_gains(plant))
    index = niederlinski(plant)
    condition = float(sizes[0] / sizes[-1]) if sizes[-1] else math.inf
    numbers: dict[str, Any] = {
        "plant": plant.tolist(), "relative_gains": relative.tolist(), "niederlinski": index,
        "singular_values": sizes.tolist(), "condition": finite(condition),
    }  # fmt: skip
    rows = [
        f"relative gains of {name}: {', '.join(f'{x:.6g}' for x in row)}"
        for name, row in zip(question.blocks, relative, strict=True)
    ]
    lines = [*rows, f"Niederlinski's index {index:.6g}", f"singular values {sizes[0]:.6g} to {sizes[-1]:.6g}"]
    lines += [f"condition {condition:.6g}"]
    together = None if is_sampled(net) else multiloop_disk(net, question.blocks)
    if together is not None and together.disk is not None:
        numbers["disk_together"] = disk_json(together.disk)
        lines.append(f"disk of all loops together {render_disk(together.disk)}")
    return Answer("interaction", question.blocks, numbers, tuple(lines))


def _map(net: Network, question: NetworkQuestion) -> Answer:
    if len(question.blocks) != 1:
        raise UsageError("a map is of one block: name it")
    (name,) = question.blocks
    own, longest = net.blocks[net.index[name]].delay, question.up_to or 10 * slowest(net)
    rows = []
    for factor in np.geomspace(0.1, 10, MAP_GAINS):
        windows = delay_windows(scaled(net, (name,), float(factor)), name, own + longest)
        rows.append((float(factor), windows, [*_stable(windows, own)]))
    numbers = {
        "unit": "s of extra delay", "longest": longest,
        "rows": [{"factor": factor, "stable": [list(s) for s in spans], "gap": w.gap} for factor, w, spans in rows],
    }  # fmt: skip
    lines = tuple(
        f"times {factor:.4g}: {', '.join(_span(*span, 's') for span in spans) or 'not stable'}"
        for factor, _, spans in rows
    )
    return Answer("map", question.blocks, numbers, lines, open=any(w.gap for _, w, _ in rows))


def _stable(windows: Windows, own: float) -> Iterator[tuple[float, float]]:
    """Yields the stable windows as extra delays."""
    for low, high in windows.stable:
        if high > own:
            yield max(low - own, 0.0), high - own


ASKED: Mapping[str, Callable[[Network, NetworkQuestion], Answer]] = {
    "critical gain": _critical_gain, "critical delay": _critical_delay, "gain windows": _windows,
    "delay windows": _windows, "peak": _peak, "interaction": _interaction, "map": _map,
}  # fmt: skip
