"""Analyses a network of blocks, couplings and samplers, and renders what was computed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from coherence.base.number_text import render_seconds
from coherence.base.text_tables import aligned_rows
from coherence.loops.margins.network_margins import Margins, margins
from coherence.loops.margins.subsets import Subsets, minimal_unstable
from coherence.loops.multirate.critical_gain import SCAN, critical_gain
from coherence.loops.multirate.sampled_system import Multirate
from coherence.loops.multirate.verdict import Floquet, floquet
from coherence.loops.networks.delayed_difference import fragile_feedthrough
from coherence.loops.networks.delayed_verdict import DelayVerdict
from coherence.loops.networks.delayed_verdict import verdict as delayed_verdict
from coherence.loops.networks.network import Network, network

MOST_MARGINS, MOST_BLAMED, MOST_FACTORS = 12, 40, 6
FACTOR = 100.0  # how far a gain of a sampled network is changed, up and down


@dataclass(frozen=True)
class NetworkAnalysis:
    """`delayed` for continuous blocks, `sampled` (Floquet) where some block has a rate.

    `margins` by block of a stable continuous network, `factors` (block, lowest, highest) of a stable sampled one;
    `blame` of an unstable one; `notes` say what was left out.
    """

    network: Network | Multirate
    delayed: DelayVerdict | None
    sampled: Floquet | None
    margins: tuple[Margins, ...]
    blame: Subsets | None
    notes: tuple[str, ...]
    factors: tuple[tuple[str, float, float], ...] = ()

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


def judged(made: Network | Multirate) -> NetworkAnalysis:
    """Returns the verdict alone.  Raises UsageError."""
    if isinstance(made, Multirate) or any(block.rate is not None for block in made.blocks):
        return NetworkAnalysis(made, None, floquet(made), (), None, ())
    return NetworkAnalysis(made, delayed_verdict(made), None, (), None, ())


def analysed(net: Network | Multirate, before: NetworkAnalysis | None = None) -> NetworkAnalysis:
    """Returns the verdict (or the one already found) and, where it has meaning, margins or the loops to blame."""
    known = before or judged(net)
    if isinstance(net, Multirate):
        return known
    if known.sampled is not None:
        return _sampled(net, known.sampled)
    delayed = known.delayed
    assert delayed is not None
    fragile = fragile_feedthrough(net) if delayed.verdict == "stable" else ""
    notes = [f"warning: {fragile}"] if fragile else []
    figures: tuple[Margins, ...] = ()
    blame = None
    if delayed.verdict == "stable":
        figures = tuple(_margins(net, notes))
    elif delayed.verdict == "unstable" and len(net.blocks) <= MOST_BLAMED:
        blame = minimal_unstable(net)
        notes += [f"smallest unstable sets were not all looked for: {part}" for part in blame.unsearched]
    elif delayed.verdict == "unstable":
        notes.append(f"which of {len(net.blocks)} blocks are to blame is not looked for above {MOST_BLAMED}")
    return NetworkAnalysis(net, delayed, None, figures, blame, tuple(notes))


def _sampled(net: Network, floquet: Floquet) -> NetworkAnalysis:
    """Returns the verdict on one lap of all rates and, where it is stable, the safe factors on the gain of each
    block.
    """
    if floquet.verdict != "stable":
        return NetworkAnalysis(net, None, floquet, (), None, ("safe factors are told of a stable network",))
    names = [name for part in net.components() if part.couplings for name in part.names]
    factors = tuple(_factors(net, name) for name in names[:MOST_FACTORS])
    notes = [f"safe factors were looked for from {1 / FACTOR:g} to {FACTOR:g}, in steps of {SCAN} to the whole range"]
    if len(names) > MOST_FACTORS:
        notes.append(f"safe factors of {MOST_FACTORS} of {len(names)} blocks in loops")
    return NetworkAnalysis(net, None, floquet, (), None, tuple(notes), factors)


def _factors(net: Network, name: str) -> tuple[str, float, float]:
    """Returns the name of a block and the factors on its gain between which the network is stable; 0 and inf:
    no end met.
    """

    def scaled(factor: float) -> Network:
        blocks = (
            replace(b, numerator=tuple(factor * c for c in b.numerator)) if b.name == name else b for b in net.blocks
        )
        return network(blocks, net.couplings)

    high = critical_gain(scaled, low=1.0, high=FACTOR)
    low = critical_gain(lambda factor: scaled(1 / factor), low=1.0, high=FACTOR)
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


def text(path: str, analysis: NetworkAnalysis) -> str:
    """Returns the analysis for a reader."""
    samplers = f" and {len(net.samplers)} samplers" if isinstance(net := analysis.network, Multirate) else ""
    lines = [f"{path}: {len(net.blocks)} blocks{samplers}, {len(net.couplings)} couplings", ""]
    lines += [f"{analysis.verdict}: {analysis.reason}"] if analysis.reason else [analysis.verdict]
    lines += [f"  {what:<22}{value}" for what, value in _rows(analysis)]
    if analysis.margins:
        lines += ["", *_margin_table(analysis.margins)]
    if analysis.factors:
        lines += ["", *_factor_table(analysis.factors)]
    for blame in analysis.blame.sets if analysis.blame else ():
        minimal = "every proper part is stable" if blame.minimal else "not shown to be minimal"
        lines.append(f"  to blame              {' and '.join(blame.loops)} ({minimal})")
    return "\n".join([*lines, *(f"  note: {note}" for note in analysis.notes)]) + "\n"


def _rows(analysis: NetworkAnalysis) -> Iterator[tuple[str, str]]:
    if analysis.delayed is not None:
        delayed = analysis.delayed
        doubt = "" if delayed.confirmed else "; others may lie further right"
        for root in delayed.rightmost:
            yield "rightmost root", f"{root.real:.6g}" + (f" +- {root.imag:.6g}j" if root.imag else "") + f" 1/s{doubt}"
        if delayed.period is not None:
            yield "period", render_seconds(float(f"{delayed.period:.6g}"))
        if delayed.unstable is not None:
            yield "unstable roots", str(delayed.unstable)
        if delayed.certified:
            yield "certified", delayed.certified
    if analysis.sampled is not None:
        yield "growth per lap", f"{analysis.sampled.modulus:.6g} (lap {render_seconds(analysis.sampled.lap)})"
        if analysis.sampled.period is not None:
            yield "period", render_seconds(float(f"{analysis.sampled.period:.6g}"))
        if analysis.sampled.unstable is not None:
            yield "unstable multipliers", str(analysis.sampled.unstable)


def _margin_table(rows: Sequence[Margins]) -> list[str]:
    head = ("opened at", "safe factors", "phase", "delay", "disk", "peak sensitivity")
    return aligned_rows([head, *map(_margin_row, rows)])


def _factor_table(rows: Sequence[tuple[str, float, float]]) -> list[str]:
    ends = ((name, f"{low or 1 / FACTOR:.6g} to {min(high, FACTOR):.6g}") for name, low, high in rows)
    return aligned_rows([("opened at", "safe factors"), *ends])


def _margin_row(point: Margins) -> tuple[str, ...]:
    upper = f"{point.upper_gain:.6g}" if math.isfinite(point.upper_gain) else f"above {point.searched:g}"
    unmet = "none found" if point.gap else "any"
    phase = f"{point.phase:.4g} deg" if math.isfinite(point.phase) else unmet
    delay = render_seconds(float(f"{point.delay:.6g}")) if math.isfinite(point.delay) else unmet
    peak = f"{point.sensitivity.value:.4g} at {point.sensitivity.frequency:.4g} rad/s"
    return (point.point, f"{point.lower_gain:.6g} to {upper}", phase, delay, f"{point.disk.size:.4g}", peak)


def as_json(path: str, analysis: NetworkAnalysis) -> dict[str, Any]:
    """Returns the analysis for programs."""
    roots = analysis.delayed.rightmost if analysis.delayed else ()
    sampled = analysis.sampled
    blame = analysis.blame.sets if analysis.blame else ()
    return {
        "path": path,
        "verdict": analysis.verdict,
        "reason": analysis.reason,
        "certified": analysis.delayed.certified if analysis.delayed else "",
        "unstable": analysis.delayed.unstable if analysis.delayed else sampled.unstable if sampled else None,
        "rightmost": [[z.real, z.imag] for z in roots],
        "rightmost_confirmed": analysis.delayed.confirmed if analysis.delayed else None,
        "multipliers": [[float(z.real), float(z.imag)] for z in sampled.multipliers[:20]] if sampled else [],
        "margins": [
            {
                "at": m.point, "factor_low": m.lower_gain, "factor_high": _finite(m.upper_gain),
                "phase_degrees": _finite(m.phase), "delay_seconds": _finite(m.delay), "disk": m.disk.size,
                "sensitivity_peak": m.sensitivity.value, "sensitivity_at_rad_per_s": _finite(m.sensitivity.frequency),
                "gap": m.gap,
            }
            for m in analysis.margins
        ],
        "factors": [{"at": name, "low": low, "high": _finite(high)} for name, low, high in analysis.factors],
        "to_blame": [{"blocks": list(b.loops), "minimal": b.minimal} for b in blame],
        "notes": list(analysis.notes),
    }  # fmt: skip


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
