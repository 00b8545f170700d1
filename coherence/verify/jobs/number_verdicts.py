"""Finds the verdict for each number of like jobs, and where it is known for all larger numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from coherence.findings.question_input import details_are_asked
from coherence.verify.jobs.contest import Contest
from coherence.verify.jobs.count_ranges import render_verdicts
from coherence.verify.jobs.livelock import CERTAIN, NONE, POSSIBLE, UNKNOWN

MOST_BY_NUMBER = 3000  # states, over all numbers of a kind
Decide: TypeAlias = Callable[[Contest, int], tuple[str, int]]  # (contest, most states) -> (verdict, states explored)


@dataclass(frozen=True)
class NumberVerdicts:
    """The verdict for each number of jobs of a kind from 1 on; `onward`: a conflict at the last stays one above it.

    Another job may never come: then what happens is what happened without it.  That needs that jobs come in any order.
    """

    name: str
    verdicts: tuple[tuple[int, str], ...]
    onward: bool

    def render(self) -> str:
        """Renders `none at 1 to 2, conflict by some choices at 3 and above`."""
        last, verdict = self.verdicts[-1]
        words = [(number, word if word in (CERTAIN, POSSIBLE, NONE) else "open") for number, word in self.verdicts]
        text = render_verdicts(words, saturated=self.onward)
        if not self.onward or verdict == POSSIBLE:
            return text
        return f"{text.removesuffix(' and above')}, at {last + 1} and above by some choices at least"


def by_number(contest: Contest, decide: Decide) -> list[NumberVerdicts]:
    """Returns verdicts for kinds of which the number changes it, the others as they are; within a budget."""
    changed = [k for k, kind in enumerate(contest.kinds) if kind.number > 1 and details_are_asked()]
    rows = [_of_kind(contest, k, decide) for k in changed]
    return [row for row in rows if len({verdict for _, verdict in row.verdicts}) > 1]


def _of_kind(contest: Contest, k: int, decide: Decide) -> NumberVerdicts:
    verdicts, budget, kind = list[tuple[int, str]](), MOST_BY_NUMBER, contest.kinds[k]
    any_order = not any("age" in other.attributes for other in contest.kinds)
    for number in range(1, 2 * kind.number + 1):
        kinds = (*contest.kinds[:k], replace(kind, number=number), *contest.kinds[k + 1 :])
        verdict, states = decide(replace(contest, kinds=kinds), budget)
        budget -= states
        if verdict == UNKNOWN or budget <= 0:
            break
        verdicts.append((number, verdict))
        if any_order and verdict in (CERTAIN, POSSIBLE):
            return NumberVerdicts(kind.name, tuple(verdicts), onward=True)
    return NumberVerdicts(kind.name, tuple(verdicts), onward=False)
