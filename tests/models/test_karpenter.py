"""The parts of Karpenter against a plain disruption controller: what a budget allows, and when nodes go.

SOURCE: Karpenter 1.0 to 1.14, pkg/apis/v1/nodepool.go: GetAllowedDisruptionsByReason, GetAllowedDisruptions, IsActive;
pkg/controllers/disruption/helpers.go: BuildDisruptionBudgetMapping; controller.go: Reconcile (at once after a command,
10 s after there was nothing to do); consolidation.go: commandValidationDelay 15 s.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction

from coherence import importers
from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.exact import Choices, execute
from coherence.verify.facts.design_facts import known
from coherence.verify.facts.limits import cap
from coherence.verify.patterns.design import dead_policy
from coherence.verify.timers.cron import recurring, uncovered
from tests.draws import source, trace_counts

POLL, VALIDATION = 10, 15  # seconds
WEEK = 7 * 48  # half hours
Amount = tuple[int, bool]  # a number of nodes, or so many percent
Schedule = tuple[int, int | None, int]  # half hour of the day, day of the week (0 = Sunday), half hours that it lasts


# --- budgets


def allowed(amount: Amount, nodes: int) -> int:
    """Returns how many nodes may go at once where none is gone: a percentage rounds up."""
    value, percent = amount
    return (value * nodes + 99) // 100 if percent else value


def active(schedule: Schedule, now: int) -> bool:
    """Decides whether a budget holds at a half hour of the week that begins on a Monday: some hit lies within it."""
    time, weekday, lasts = schedule
    hits = (now - back for back in range(lasts))
    return any(hit % 48 == time and weekday in (None, (hit // 48 + 1) % 7) for hit in hits)


@trace_counts(200, of=("karpenter_budget",))
def test_a_budget_lets_as_many_nodes_go_as_the_controller(traces: int) -> None:
    rng = source(71)
    for _ in range(traces):
        nodes, percent = rng.randint(1, 60), rng.random() < 0.7
        value = rng.choice((0, 1, 5, 10, 33, 50, 100, rng.randint(0, 100))) if percent else rng.randint(0, 6)
        text = f"""coherence: 1
components: {{node: {{copies: {nodes}}}}}
limits: {{budget: {{uses: karpenter_budget, counts: node.disrupted, at_most: {value}{" %" * percent}}}}}
"""
        subject = Subject(read_text(text))
        facts = known(subject)
        tree = cap(facts, subject.design.limits["budget"])
        assert tree is not None
        assert facts.range(tree).low == facts.range(tree).high == allowed((value, percent), nodes), (value, nodes)


@trace_counts(50, of=("karpenter_budget",))
def test_budgets_leave_the_same_first_half_hour_of_the_week_to_no_schedule(traces: int) -> None:
    rng = source(72)
    for _ in range(traces):
        schedules: list[Schedule] = [
            (rng.randint(0, 47), rng.choice((None, rng.randint(0, 6))), rng.choice((2, 16, 48, 96)))
            for _ in range(rng.randint(1, 6))
        ]
        texts = [
            f"{30 * (time % 2)} {time // 2} * * {'*' if day is None else day} for {30 * lasts} min"
            for time, day, lasts in schedules
        ]
        free = (now for now in range(WEEK) if not any(active(schedule, now) for schedule in schedules))
        first = next(free, None)
        assert uncovered([recurring(text) for text in texts]) == (None if first is None else 1800 * first), texts


@trace_counts(60, of=("karpenter_budget",))
def test_budgets_for_reasons_leave_the_same_first_half_hour_to_each_loop(traces: int) -> None:
    """Reads drawn pools: where no budget of a reason that a loop acts for allows a node, it never acts."""
    rng, dead = source(74), 0
    for _ in range(traces):
        budgets = []
        for _ in range(rng.randint(1, 4)):
            reasons = rng.choice((None, None, rng.sample(("Drifted", "Empty", "Underutilized"), rng.randint(1, 3))))
            lasts = rng.choice((None, 2, 16, 48, 48, 96))
            schedule = None if lasts is None else (rng.randint(0, 47), rng.choice((None, rng.randint(0, 6))), lasts)
            budgets.append((rng.choice((0, 0, 3)), reasons, schedule))
        empty = rng.random() < 0.3
        design = importers.design_from_sources({"pool.yaml": _pool(budgets, empty=empty)})
        found = [f for f in dead_policy.ask(Subject(design)) if f.verdict is not Verdict.UNDECIDED]
        off = {one for nodes, reasons, schedule in budgets if not nodes and schedule is None for one in reasons or ()}
        left = {"Empty"} - off if empty else {"Empty", "Underutilized"} - off
        assert bool(design.loops) == bool(left)
        for name in design.loops:
            acts_for = {"Empty"} if name.endswith("empty") else {"Underutilized"}
            for reason in left if name.endswith("consolidation") else acts_for:
                free = [now for now in range(WEEK) if _allowed_for(reason, budgets, now)]
                never = [f for f in found if name in f.of and f.verdict is Verdict.CONFLICT]
                assert bool(never) == (not free), (budgets, name)
                dead += not free
    assert dead > traces / 10


def _allowed_for(reason: str, budgets: Sequence[tuple[int, list[str] | None, Schedule | None]], now: int) -> int:
    """Returns how many nodes may go for a reason at a half hour of the week: the least of the budgets that hold."""
    holding = (
        nodes for nodes, reasons, schedule in budgets
        if (reasons is None or reason in reasons) and (schedule is None or active(schedule, now))
    )  # fmt: skip
    return min(holding, default=99)


def _pool(budgets: Sequence[tuple[int, list[str] | None, Schedule | None]], *, empty: bool) -> str:
    stated = []
    for nodes, reasons, schedule in budgets:
        budget: dict[str, object] = {"nodes": str(nodes)} | ({"reasons": reasons} if reasons is not None else {})
        if schedule is not None:
            time, day, lasts = schedule
            cron = f"{30 * (time % 2)} {time // 2} * * {'*' if day is None else day}"
            budget |= {"schedule": cron, "duration": f"{30 * lasts}m"}
        stated.append(budget)
    policy = "WhenEmpty" if empty else "WhenEmptyOrUnderutilized"
    disruption = {"consolidationPolicy": policy, "consolidateAfter": "1m", "budgets": stated}
    pool = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "spot"}}
    return json.dumps(pool | {"spec": {"disruption": disruption}})


# --- consolidation


def removed(needs: list[tuple[int, int]], nodes: int, until: int) -> list[int]:
    """Returns when nodes go, of which so many are needed from a second on; one command takes one node."""
    times, now = list[int](), 0
    while now <= until:
        if nodes > _needed(needs, now):
            now += VALIDATION
            if nodes > _needed(needs, now):
                nodes -= 1
                times.append(now)
                continue
        now += POLL
    return times


def _needed(needs: list[tuple[int, int]], now: int) -> int:
    return next(value for at, value in reversed(needs) if at <= now)


def part(nodes: int) -> Model:
    return elaborate(
        read_text(f"""coherence: 1
components: {{work: {{nodes: 0 .. 99}}}}
loops:
  consolidate:
    uses: karpenter_consolidation
    trigger: pool.nodes > work.nodes for 0 s
    actuation: {{signal: pool.nodes, bounds: [0, 99], from: {nodes}}}
""")
    )


@trace_counts(100, of=("karpenter_consolidation",))
def test_nodes_go_one_after_the_other_and_each_a_validation_later_than_the_part_takes_them(traces: int) -> None:
    """A burst of nodes to remove begins at a poll of both: the wait for a poll is chance."""
    rng = source(73)
    models = {nodes: part(nodes) for nodes in (10, 30)}
    for _ in range(traces):
        nodes = rng.choice(list(models))
        needs, now, left = [(0, nodes)], 0, nodes
        for _ in range(4):
            now += 30 * rng.randint(1, 4)
            gone = rng.randint(0, left // 3)
            left -= gone
            needs.append((now, left))
            now += VALIDATION * gone
        schedule = tuple((Fraction(at), "work.nodes", Fraction(value)) for at, value in needs)
        instants = execute(models[nodes], Choices(schedule=schedule), until=Fraction(now))
        taken = [int(instant.time) for instant in instants for _ in instant.actions]
        assert [at + VALIDATION for at in taken] == removed(needs, nodes, now), needs


def test_a_command_that_no_longer_holds_is_dropped() -> None:
    assert removed([(0, 9), (10, 8), (20, 9)], 9, 60) == []
