"""Finds the limit cycles of loops that switch, exactly, or says why there is none.

Runs from many starts, and the first-harmonic screen, propose words of events; Newton's method solves each
word exactly; an event-accurate run over one period confirms it; Floquet multipliers say whether it attracts.

    >>> from coherence.loops.cycles.relay import feedback, relay
    >>> limit_cycles(feedback([0.05], [1, 0], relay(1.0), delay=30)).attracting[0].period
    120.0
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from coherence.loops.cycles.cycle_search_result import Cycle, CycleSearchResult, describe_ends
from coherence.loops.cycles.delayed_runs import Start
from coherence.loops.cycles.describing_functions import screen
from coherence.loops.cycles.relay import System
from coherence.loops.cycles.shooting import Solution
from coherence.loops.cycles.starts import beside, default_starts
from coherence.loops.cycles.word_search import follow, near

__all__ = ["Cycle", "CycleSearchResult", "cycle_from", "limit_cycles"]
SWITCHES = 1536  # crossings after which a run that has not become periodic is given up
MOST_GUESSES = 5  # of the screen, slowest first: a delayed relay has endlessly many fast unstable cycles


def limit_cycles(system: System, *, starts: Sequence[Start] = (), switches: int = SWITCHES) -> CycleSearchResult:
    """Returns every cycle that is reached from the starts (default:
    a spread over all scales) or near a screened guess.
    """
    if system.delayed_pieces:
        from coherence.loops.cycles.delayed import limit_cycles_delayed

        return limit_cycles_delayed(system, starts)
    solved: list[tuple[Cycle, Solution]] = []
    guesses = sorted(screen(system), key=lambda guess: -guess.period)[:MOST_GUESSES]
    for guess in guesses:
        near(system, guess, solved)
    begins = starts or (*default_starts(system), *beside(system, guesses))
    ends = Counter(follow(system, start, solved, switches)[0] for start in begins)
    cycles = tuple(sorted((cycle for cycle, _ in solved), key=lambda c: (not c.attracts, c.period)))
    return CycleSearchResult(cycles, dict(ends), describe_ends(cycles, ends), tuple(guesses))


def cycle_from(system: System, start: Start, *, switches: int = SWITCHES) -> CycleSearchResult:
    """Returns the one cycle to which the run from a start comes, or how that run ends."""
    if system.delayed_pieces:
        return limit_cycles(system, starts=[start])
    end, cycle = follow(system, start, [], switches)
    cycles = (cycle,) if cycle is not None else ()
    return CycleSearchResult(cycles, {end: 1}, describe_ends(cycles, Counter([end])), screen(system))
