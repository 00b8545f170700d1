"""Analyses a network of blocks and couplings: the verdict, margins, and the loops to blame.

A continuous block is opened at its output, a sampled one at what it reads; of a sampled network the gains of its
continuous blocks are scaled, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from coherence.base.errors import UsageError
from coherence.loops.analysis.law_margins import LoopFigures
from coherence.loops.analysis.sampled_network import sampled_figures
from coherence.loops.margins.network_margins import Margins, margins
from coherence.loops.margins.subsets import Subsets, minimal_unstable
from coherence.loops.multirate.critical_gain import SCAN, critical_gain
from coherence.loops.multirate.sampled_system import Multirate, multirate
from coherence.loops.multirate.verdict import Floquet, floquet
from coherence.loops.networks.delayed_verdict import DelayVerdict
from coherence.loops.networks.delayed_verdict import verdict as delayed_verdict
from coherence.loops.networks.network import Network, network
from coherence.loops.networks.small_delays import FeedthroughGain, small_delays, warning
from coherence.loops.networks.stability import Stability

MOST_MARGINS, MOST_BLAMED, MOST_FACTORS = 12, 40, 6
FACTOR = 100.0  # how far a gain of a sampled network is changed, up and down


@dataclass(frozen=True)
class NetworkAnalysis:
    """`delayed` for continuous blocks, `sampled` (Floquet) where some block has a rate.

    `margins` by block of a stable continuous network; of a stable sampled one `opened` by sampled block and `factors`
    (block, lowest, highest) by continuous block; `blame` of an unstable one; `notes` say what was left out; `late`
    of a stable continuous one: what short delays do.
    """

    network: Network | Multirate
    delayed: DelayVerdict | None
    sampled: Floquet | None
    margins: tuple[Margins, ...]
    blame: Subsets | None
    notes: tuple[str, ...]
    factors: tuple[tuple[str, float, float], ...] = ()
    opened: tuple[LoopFigures, ...] = ()
    late: FeedthroughGain | None = None

    @property
    def verdict(self) -> str:
        found = self.sampled or self.delayed
        return found.verdict if found is not None else "stable"

    @property
    def reason(self) -> str:
        found = self.sampled or self.delayed
        return found.reason if found is not None else "there is no block"


def undecided(made: Network | Multirate, reason: str) -> NetworkAnalysis:
    """Returns an analysis without a verdict, with the reason."""
    return NetworkAnalysis(made, DelayVerdict("undecided", reason), None, (), None, ())


def is_sampled(net: Network | Multirate) -> bool:
    """Decides whether something is sampled."""
    return isinstance(net, Multirate) or any(block.rate is not None for block in net.blocks)


def judged(net: Network | Multirate) -> NetworkAnalysis:
    """Returns the verdict alone.  Raises UsageError."""
    if isinstance(net, Multirate) or is_sampled(net):
        return NetworkAnalysis(net, None, floquet(net), (), None, ())
    answer = delayed_verdict(net)
    if answer.verdict != "stable":
        return NetworkAnalysis(net, answer, None, (), None, ())
    late = small_delays(net)
    notes = () if late.stable else (f"warning: {warning(late)}",)
    return NetworkAnalysis(net, answer, None, (), None, notes, late=late)


def analysed(net: Network | Multirate, before: NetworkAnalysis | None = None) -> NetworkAnalysis:
    """Returns the verdict (or the one already found) and, where it has meaning, margins or the loops to blame."""
    known = before or judged(net)
    if known.verdict not in ("stable", "unstable") or (known.verdict == "unstable" and isinstance(net, Multirate)):
        return known
    if isinstance(net, Multirate):
        opened = [sampled_figures(net, sampler.name) for sampler in net.samplers[:MOST_MARGINS]]
        return replace(known, opened=tuple(opened))
    if known.verdict == "unstable":
        return _blamed(known, net)
    if known.sampled is not None:
        return _sampled(known, net)
    notes = list(known.notes)
    figures = tuple(_margins(net, notes))
    return replace(known, margins=figures, notes=tuple(notes))


def _blamed(known: NetworkAnalysis, net: Network) -> NetworkAnalysis:
    if len(net.blocks) > MOST_BLAMED:
        left_out = f"which of {len(net.blocks)} blocks are to blame is not looked for above {MOST_BLAMED}"
        return replace(known, notes=(left_out,))
    try:
        blame = minimal_unstable(net, judge=any_stability)
    except UsageError as error:
        return replace(known, notes=(f"which blocks are to blame was not found: {error}",))
    notes = (f"smallest unstable sets were not all looked for: {part}" for part in blame.unsearched)
    return replace(known, blame=blame, notes=tuple(notes))


def any_stability(net: Network) -> Stability:
    """Returns the verdict of a network whose blocks may be sampled."""
    if is_sampled(net):
        lap = floquet(net)
        return Stability(lap.verdict, lap.reason, lap.unstable)
    answer = delayed_verdict(net, confirm=False)
    return Stability(answer.verdict, answer.reason, answer.unstable)


def _sampled(known: NetworkAnalysis, net: Network) -> NetworkAnalysis:
    """Returns the analysis with the margins of each sampled block and the safe factors on each continuous one."""
    looped = [name for part in net.components() if part.couplings for name in part.names]
    rated = [name for name in looped if net.blocks[net.index[name]].rate is not None]
    others = [name for name in looped if name not in rated]
    opened = tuple(sampled_figures(multirate(net), name) for name in rated[:MOST_MARGINS])
    notes = [f"margins of {MOST_MARGINS} of {len(rated)} sampled blocks"] if len(rated) > MOST_MARGINS else []
    factors = tuple(_factors(net, name) for name in others[:MOST_FACTORS])
    if factors:
        notes.append(f"factors on the gains of continuous blocks: from {1 / FACTOR:g} to {FACTOR:g}, in {SCAN} steps")
    if len(others) > MOST_FACTORS:
        notes.append(f"safe factors of {MOST_FACTORS} of {len(others)} continuous blocks in loops")
    return replace(known, opened=opened, factors=factors, notes=tuple(notes))


def scaled(net: Network, names: tuple[str, ...], factor: float) -> Network:
    """Returns the network with the gains of some blocks times a factor."""
    blocks = (
        replace(b, numerator=tuple(factor * c for c in b.numerator)) if b.name in names else b for b in net.blocks
    )
    return network(blocks, net.couplings)


def _factors(net: Network, name: str) -> tuple[str, float, float]:
    """Returns the name of a block and the factors on its gain between which the network is stable; 0 and inf:
    no end met.
    """
    high = critical_gain(lambda factor: scaled(net, (name,), factor), low=1.0, high=FACTOR)
    low = critical_gain(lambda factor: scaled(net, (name,), 1 / factor), low=1.0, high=FACTOR)
    return name, 1 / low, high


def _margins(net: Network, notes: list[str]) -> Iterator[Margins]:
    looped = [part.names[0] for part in net.components() if part.couplings]
    names = [name for part in net.components() if part.couplings for name in part.names]
    if len(names) > MOST_MARGINS:
        notes.append(f"margins of {MOST_MARGINS} of {len(names)} blocks in loops")
        names = [*dict.fromkeys((*looped, *names))][:MOST_MARGINS]
    for name in names:
        judged_point = margins(net, name)
        if judged_point.margins is not None:
            notes += [f"margins at {name}: {judged_point.margins.gap}"] if judged_point.margins.gap else []
            yield judged_point.margins
        else:
            notes.append(f"margins at {name}: {judged_point.stability.reason or 'none could be computed'}")
