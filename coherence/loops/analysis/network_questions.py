"""Asks more of a network of blocks: critical gain and delay, windows, peaks, interaction, a map of gain and delay.

critical gain     the factor on the gains of some blocks together at which the verdict first changes
critical delay    the extra delay of some blocks together at which it first changes
interaction       of the plant that some blocks see between their outputs and their inputs, P(0) with those blocks
                  taken out: relative gains, Niederlinski's index, singular values; and the disk margin of all of
                  those loops together
map               the windows of extra delay of one block in which the network is stable, gain by gain

along             what a disturbance at the first block does at each block of a path, and whether it grows
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.base.errors import UsageError, did_you_mean
from coherence.loops.analysis.network_analysis import is_sampled, scaled
from coherence.loops.analysis.network_answers import (
    Answer,
    MapRow,
    NetworkQuestion,
    of_critical,
    of_map,
    of_path,
    of_windows,
    unanswered,
)
from coherence.loops.analysis.render_margins import disk_json, render_at, render_disk
from coherence.loops.analysis.render_network import finite, peak_json
from coherence.loops.analysis.sampled_questions import SAMPLED, answered_sampled
from coherence.loops.margins.interaction import niederlinski, relative_gains
from coherence.loops.margins.interaction_disk import multiloop_disk
from coherence.loops.margins.peaks import amplification
from coherence.loops.margins.stability_windows import Windows, delay_windows, gain_windows
from coherence.loops.multirate.sampled_system import Multirate
from coherence.loops.networks import critical
from coherence.loops.networks.network import Block, Coupling, Network, network
from coherence.loops.waves.network_gain import along

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_GAIN = 1e6
LONGEST = 100.0  # times the slowest time of the network
MAP_GAINS = 25  # odd: one row is of the factor 1
SINGULAR = 1e12  # condition from which a steady gain is none


def answered(net: Network | Multirate, question: NetworkQuestion) -> Answer:
    """Returns the answer to one question.  Raises UsageError for unknown blocks."""
    names = [part.name for part in (*getattr(net, "samplers", ()), *net.blocks)]
    blocks = question.blocks or (tuple(names) if len(names) == 1 else ())
    for name in (*blocks, question.source, question.target):
        if name is not None and name not in names:
            raise UsageError(f"'{name}' is no block: {did_you_mean(name, names)}")
    if not blocks and question.kind != "peak":
        raise UsageError(f"the {question.kind} is that of some blocks together: name them with --of A,B")
    if isinstance(net, Multirate) and question.kind not in SAMPLED:
        return unanswered(question.kind, blocks, "it is asked of blocks, with a rate where they are sampled")
    question = replace(question, blocks=blocks)
    try:
        if isinstance(net, Multirate) or (question.kind in SAMPLED and is_sampled(net)):
            return answered_sampled(net, question)
        return ASKED[question.kind](net, question)
    except UsageError as error:
        return unanswered(question.kind, blocks, str(error))


def _critical_gain(net: Network, question: NetworkQuestion) -> Answer:
    most = question.up_to or MOST_GAIN
    answer = critical.critical_gain(net, question.blocks, highest=most)
    return of_critical(question, answer.at, answer.proved, answer.frequency, answer.reason)


def _critical_delay(net: Network, question: NetworkQuestion) -> Answer:
    most = question.up_to or LONGEST * slowest(net)
    delays = {net.blocks[net.index[name]].delay for name in question.blocks}
    if len(delays) == 1:
        (own,) = delays
        answer, names = critical.critical_delay(net, question.blocks, highest=own + most), question.blocks
    else:
        own, names = 0.0, tuple(f"extra delay of {name}" for name in question.blocks)
        answer = critical.critical_delay(_with_extra(net, question.blocks), names, highest=most)
    at = None if answer.at is None else answer.at - own
    return of_critical(question, at, answer.proved - own, answer.frequency, answer.reason)


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


def _windows(net: Network, question: NetworkQuestion) -> Answer:
    if len(question.blocks) != 1:
        raise UsageError("windows are of one block: name it")
    (name,) = question.blocks
    if question.kind == "gain windows":
        answer = gain_windows(net, name, highest=question.up_to or 100.0)
    else:
        answer = delay_windows(net, name, question.up_to or LONGEST * slowest(net))
    return of_windows(question, answer)


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
        rows.append(MapRow(float(factor), tuple(_stable(windows, own)), windows.gap))
    return of_map(question, rows, longest)


def _stable(windows: Windows, own: float) -> Iterator[tuple[float, float]]:
    """Yields the stable windows as extra delays."""
    for low, high in windows.stable:
        if high > own:
            yield max(low - own, 0.0), high - own


def _along(net: Network, question: NetworkQuestion) -> Answer:
    return of_path(question, along(net, question.blocks))


ASKED: Mapping[str, Callable[[Network, NetworkQuestion], Answer]] = {
    "critical gain": _critical_gain, "critical delay": _critical_delay, "gain windows": _windows,
    "delay windows": _windows, "peak": _peak, "along": _along, "interaction": _interaction, "map": _map,
}  # fmt: skip
