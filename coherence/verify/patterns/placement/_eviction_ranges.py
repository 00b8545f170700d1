"""Says for which other numbers of places and members evictions go on for ever."""

from __future__ import annotations

from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.jobs.count_ranges import render_verdicts
from coherence.verify.jobs.eviction import BLOCKED, CERTAIN, IDLE, NONE, POSSIBLE, UNKNOWN, WAITS, acts_on_more, chase
from coherence.verify.jobs.eviction_case import EvictionCase, values_at
from coherence.verify.jobs.sites import Cluster, cluster

BOUND, BY_MEMBERS, MOST_SWEPT = 50, 20, 8000


def by_places(facts: DesignFacts, case: EvictionCase, stated: Cluster, members: int) -> str:
    """Returns the verdict for 1 to 50 places of each kind whose count is stated."""
    lines, budget = [], MOST_SWEPT
    for name, given in facts.design.places.items():
        if "count" not in given:
            continue
        verdicts: list[tuple[int, str]] = []
        for number in range(1, max(BOUND, members + 1) + 1):
            numbers = {**dict(stated.chosen), name: number}
            there = cluster(facts, case.thing, by=case.labels, numbers=numbers)
            chased = chase(case.evictors, there, members, values_at(case, there, members), beside=case.beside)
            budget -= len(chased.graph.edges) if chased.graph else 1
            if budget <= 0:
                break
            verdicts.append((number, _plain(chased.verdict, stated=bool(there.rules))))
            if _saturated(facts, case, verdicts, members):
                break
        lines.append(f"; {name}: {render_verdicts(verdicts, saturated=_saturated(facts, case, verdicts, members))}")
    return "".join(lines)


def by_members(case: EvictionCase, there: Cluster) -> str:
    """Returns the verdict for 1 to 20 members on the stated places, or for all, where one number of them is stated."""
    verdicts, budget, onward = list[tuple[int, str]](), MOST_SWEPT // 4, False
    for number in range(1, BY_MEMBERS + 1) if case.low == case.high else ():
        values = values_at(case, there, number)
        chased = chase(case.evictors, there, number, values, beside=case.beside)
        budget -= len(chased.graph.edges) if chased.graph else 1
        if budget <= 0 or chased.verdict in (UNKNOWN, BLOCKED):
            break
        verdicts.append((number, _plain(chased.verdict, stated=bool(there.rules or there.likes))))
        onward = chased.verdict == CERTAIN and acts_on_more(case.evictors, there, number, values)
        if onward:
            break
    changes = len({verdict for _, verdict in verdicts}) > 1
    return f"; members: {render_verdicts(verdicts, saturated=onward)}" if changes else ""


def _saturated(facts: DesignFacts, case: EvictionCase, verdicts: list[tuple[int, str]], members: int) -> bool:
    """Beyond as many places alike as members, one more empty place changes nothing that the trigger reads."""
    from coherence.language.expressions import names

    reads = any(path.endswith(".count") for one in case.evictors for path in names(one.trigger))
    return len(facts.design.places) == 1 and not reads and bool(verdicts) and verdicts[-1][0] > members


def _plain(verdict: str, *, stated: bool) -> str:
    if verdict in (IDLE, NONE):
        return "none"
    if verdict == WAITS:
        return "left to who acts how soon"
    return "left to the placer" if verdict == POSSIBLE and not stated else verdict
