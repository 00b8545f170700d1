"""Computes the margins of one sampled block of a network: its lap opened at what it reads, and its delays."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from coherence.loops.analysis.delay_margins import DelayMargin, delay_margin
from coherence.loops.analysis.law_margins import LoopFigures
from coherence.loops.margins.sampled_margins import sampled_margins
from coherence.loops.multirate.late_readings import read_late
from coherence.loops.multirate.opened_lap import opened_lap
from coherence.loops.multirate.sampled_system import Multirate, checked, exactly
from coherence.loops.multirate.verdict import floquet


def sampled_figures(system: Multirate, name: str) -> LoopFigures:
    """Returns the margins of a sampler of a stable system."""
    margins = sampled_margins(opened_lap(system, name))
    if margins is None:
        return LoopFigures(name, None, None, False, note="margins are computed of fewer states")
    low, high = margins.low.at or 0.0, margins.high.at or math.inf
    certified = margins.low.certified and margins.high.certified
    landing, reading = _delay(system, name, _landing_later), _delay(system, name, _reading_later)
    return LoopFigures(name, low, high, certified, None, margins, landing, reading)


def _delay(system: Multirate, name: str, later: Callable[[Multirate, str, Fraction], Multirate]) -> DelayMargin:
    period = next(exactly(sampler.period) for sampler in system.samplers if sampler.name == name)

    def stable(delay: Fraction) -> bool:
        return floquet(later(system, name, delay)).verdict == "stable"

    return delay_margin(stable, period)


def _landing_later(system: Multirate, name: str, delay: Fraction) -> Multirate:
    samplers = (replace(s, lands=exactly(s.lands) + delay) if s.name == name else s for s in system.samplers)
    return checked(samplers, system.blocks, system.couplings)


def _reading_later(system: Multirate, name: str, delay: Fraction) -> Multirate:
    blocks, couplings = read_late(system.couplings, lambda coupling: coupling.target == name, delay)
    return checked(system.samplers, (*system.blocks, *blocks), couplings)
