"""Jobs, places and evictions: verdicts against plain enumeration, witnesses replayed, certificates checked again."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from coherence.base.solver import Outcome, recheck, unsat
from coherence.findings.finding import Finding, Severity, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.jobs import livelock as jobs_livelock
from coherence.verify.jobs import obligations
from coherence.verify.jobs.certificates import flat
from coherence.verify.jobs.contest import Contest, contest
from coherence.verify.jobs.contest_steps import nobody, steps
from coherence.verify.jobs.eviction import chase, evictor, moves
from coherence.verify.jobs.livelock import livelock, render_intervals, sweep
from coherence.verify.jobs.obligations import _domains, _sum, may_take, variables
from coherence.verify.jobs.placement import levels, on_paper, placement, steps_to
from coherence.verify.jobs.placing import Counts, total
from coherence.verify.jobs.sites import Cluster, cluster
from coherence.verify.jobs.state_graph import StateGraph, StateStep, components, explore, round_trip, trapped, way_to
from coherence.verify.jobs.waiting import gangs
from coherence.verify.patterns.placement import (
    evictor_vs_placer,
    gang_vs_barrier,
    hopeless_eviction,
    placement_feasibility,
    preempt_vs_admit,
)
from tests.paths import DATA
from tests.verify.jobs.naive_jobs import Jobs, Nodes, share
from tests.verify.jobs.naive_jobs import standstill as naive_standstill


def no_place(cluster: Cluster, state: Counts) -> str:
    """Returns a script: in this state no place may take one more."""
    names = variables(cluster)
    lets = " ".join(f"({name} {held})" for name, held in zip(names, flat(state), strict=True))
    body = " ".join(may_take(cluster, k) for k in range(len(names)))
    return f"(set-logic QF_LIA)\n(assert (let ({lets}) (or false {body})))\n(check-sat)\n"


def no_solution(cluster: Cluster, count: int) -> str:
    """Returns a script: so many members cannot meet all musts, however they are placed (unsat where it is so)."""
    names = variables(cluster)
    rows = [f"(declare-const {name} Int)" for name in names]
    rows += [f"(assert (>= {name} 0))" for name in names]
    rooms = [site.room for site in cluster.sites for _ in range(site.number)]
    rows += [f"(assert (<= {name} {room}))" for name, room in zip(names, rooms, strict=True) if room is not None]
    rows += [f"(assert (= {_sum(names)} {count}))"]
    for rule in cluster.musts:
        parts = [_sum(names_) for names_ in _domains(cluster, rule)]
        if rule.together:
            alone = (f"(= {part} {count})" for part in parts)
            rows.append(f"(assert (or false {' '.join(alone)}))")
        elif rule.capped:
            rows += [f"(assert (<= {part} {rule.at_most}))" for part in parts]
        else:
            rows += [
                f"(assert (<= (- {part} {other}) {rule.at_most}))" for part in parts for other in parts if part != other
            ]
    return "(set-logic QF_LIA)\n" + "\n".join(rows) + "\n(check-sat)\n"


DESIGNS = DATA / "designs"
RECLAIM = """coherence: 1
components: {{cpu: {{count: {cpu}}}, q1: {{deserved: 3 cpu}}, q2: {{deserved: 5 cpu}}}}
jobs:
  pod1: {{queue: q1, needs: 4 cpu}}
  pod2: {{queue: q2, needs: 1 cpu}}
  pod3: {{queue: q2, needs: 4 cpu}}
order:
  admit: smallest queue.used / queue.deserved first
  preempt: for pod3 take job where job.queue.used > job.queue.deserved
  victim: returns, {reserve}
"""
SPREAD = """coherence: 1
components: {{web: {{copies: 1 .. {most}}}}}
places: {{n1: {{zone: a}}, n2: {{zone: a}}, n3: {{zone: b}}}}
placement: {{web: [spread by zone <= 1, spread by node <= 1]}}
"""
TWO_ZONES = """coherence: 1
components: {{web: {{cpu: 100 % .. {cpu} %}}}}
places: {{a: {{zone: a, count: {larger}}}, b: {{zone: b, count: {smaller}}}}}
placement: {{web: [spread by node <= 1{zone}]}}
loops:
  hpa:
    uses: kubernetes_hpa
    target: {{signal: web.cpu, setpoint: 91 %}}
    actuation: {{signal: web.desired, bounds: [{low}, {high}], from: {low}}}
"""
DUPLICATES = """coherence: 1
components: {{web: {{copies: {copies}, returns: always}}}}
places: {{node: {{count: {nodes}}}}}
{rule}
loops:
  sweep: {{timescale: {{period: 5 min}}, trigger: count of web by node > {above}, actuation: {{evict: web}}}}
"""


def subject(text: str) -> Subject:
    return Subject(read_text(text), {"<design>": text})


def the_answer(module: object, text: str) -> Finding:
    found: list[Finding] = list(module.ask(subject(text)))  # type: ignore[attr-defined]
    assert len(found) == 1, [finding.message for finding in found]
    finding = found[0]
    if finding.verdict is Verdict.CONFLICT:
        assert len(finding.places) >= 2
        assert finding.evidence.witness
        assert finding.evidence.numbers
    if finding.evidence.certificate is not None:
        assert unsat(finding.evidence.certificate, timeout_ms=10_000).unsat
    return finding


def jobs_of(text: str) -> Contest:
    return contest(known(subject(text)), components=True)


def places_of(text: str, *, soft: bool = True) -> Cluster:
    return cluster(known(subject(text)), "web", soft=soft)


def dice(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311  (reproducible, not secret)


# --- the graph


def lines(edges: dict[int, list[int]], start: int = 0) -> StateGraph[int]:
    return explore([start], lambda n: [StateStep("go", f"{n} to {to}", to) for to in edges.get(n, [])], most=100)


def test_a_state_is_trapped_where_no_quiet_state_can_be_reached() -> None:
    graph = lines({0: [1, 2], 1: [0], 2: [3], 3: [4], 4: [3]})
    assert sorted(trapped(graph)) == [0, 1, 2, 3, 4]
    assert trapped(lines({0: [1, 2], 1: [0]})) == []
    assert sorted(trapped(lines({0: [1, 2], 1: [1]}))) == [1]


def test_components_ways_and_round_trips() -> None:
    graph = lines({0: [1], 1: [2, 5], 2: [3], 3: [1], 5: [5]})
    assert sorted(sorted(one) for one in components(graph)) == [[1, 2, 3], [5]]
    assert [edge.to for edge in way_to(graph, 3)] == [1, 2, 3]
    assert [edge.to for edge in round_trip(graph, 1, {1, 2, 3})] == [2, 3, 1]
    assert round_trip(graph, 0, {0}) == []


def test_an_exploration_says_when_it_stopped_early() -> None:
    assert not explore([0], lambda n: [StateStep("go", "", n + 1)], most=10).complete


# --- preempt against admit


def reclaim(capacity: int) -> Jobs:
    deserved = {"q1": 3, "q2": 5}
    return Jobs(
        {"pod1": ("q1", 4, 0, 0), "pod2": ("q2", 1, 0, 0), "pod3": ("q2", 4, 0, 0)}, capacity,
        lambda jobs, running, job: share(jobs, running, job, deserved),
        lambda jobs, running, taker, victim: taker == "pod3"
        and jobs.used(running, jobs.jobs[victim][0]) > deserved[jobs.jobs[victim][0]],
        by_queue=True,
    )  # fmt: skip


def agrees(verdict: str, naive: str) -> bool:
    return verdict == naive or (naive == "escapes" and verdict in ("possible", "tie"))


def test_the_cycle_exists_for_5_to_8_cpu_and_plain_enumeration_agrees_up_to_50() -> None:
    found = sweep(jobs_of(RECLAIM.format(cpu=8, reserve="no reservation")), "cpu")
    for capacity in range(51):
        verdict = livelock(jobs_of(RECLAIM.format(cpu=capacity, reserve="no reservation"))).verdict
        assert agrees(verdict, reclaim(capacity).verdict()), capacity
        assert verdict == found.at(Fraction(capacity)), capacity
        assert (verdict == "certain") == (5 <= capacity <= 8), capacity


def test_amounts_of_which_nothing_is_known_are_not_said_to_be_free(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = jobs_of(RECLAIM.format(cpu=8, reserve="no reservation"))
    whole = sweep(jobs, "cpu")
    states = [len(livelock(replace(jobs, capacity={"cpu": amount})).graph.edges) for amount, _ in whole.verdicts]
    monkeypatch.setattr(jobs_livelock, "MOST_SWEPT", sum(states[:-1]))
    cut = sweep(jobs, "cpu")
    last, verdict = whole.verdicts[-1]
    assert (cut.verdicts, cut.until, cut.reason) == (whole.verdicts[:-1], last, f"checked below {last} cpu")
    assert (cut.at(last - 1), cut.at(last), whole.at(last)) == (whole.at(last - 1), "unknown", verdict)
    assert cut.runs()[-1][1] == last
    assert whole.runs()[-1][1] is None


def test_the_answer_names_the_capacities_and_why_nothing_changes_beyond() -> None:
    finding = the_answer(preempt_vs_admit, RECLAIM.format(cpu=8, reserve="no reservation"))
    assert (finding.verdict, finding.severity) == (Verdict.CONFLICT, Severity.ERROR)
    assert "5 to 8 cpu" in finding.message
    assert "from 9 cpu on all jobs fit at once" in finding.message
    assert finding.evidence.numbers["no cycle from"][0] == 9
    assert len(finding.repairs) == 2


@pytest.mark.parametrize(("cpu", "reserve"), [(9, "no reservation"), (8, "reservation")])
def test_room_for_all_and_a_reservation_are_proved(cpu: int, reserve: str) -> None:
    finding = the_answer(preempt_vs_admit, RECLAIM.format(cpu=cpu, reserve=reserve))
    assert finding.verdict is Verdict.PROVED
    assert finding.evidence.certificate is not None


def test_a_tie_alone_is_asked_for_by_name() -> None:
    finding = the_answer(preempt_vs_admit, RECLAIM.format(cpu=4, reserve="no reservation"))
    assert finding.verdict is Verdict.UNDECIDED
    assert "who goes first where `queue.used / queue.deserved` is equal" in finding.message


def test_the_witness_replays_and_comes_back_to_where_it_was() -> None:
    jobs = jobs_of(RECLAIM.format(cpu=8, reserve="no reservation"))
    found, state = livelock(jobs), nobody(jobs)
    for edge in found.way:
        assert edge in list(steps(jobs, state))
        state = edge.to
    first = state
    for edge in found.cycle:
        assert edge in list(steps(jobs, state))
        state = edge.to
    assert state == first
    assert {edge.kind for edge in found.cycle} == {"admit", "take"}


ADMITS: dict[str, Callable[[Jobs, frozenset[str], str], object]] = {
    "largest priority": lambda jobs, _, job: -jobs.jobs[job][2],
    "largest age": lambda jobs, _, job: -jobs.jobs[job][3],
    "smallest queue.used": lambda jobs, running, job: jobs.used(running, jobs.jobs[job][0]),
    "smallest needs": lambda jobs, _, job: jobs.jobs[job][1],
}
TAKES: dict[str, Callable[[Jobs, frozenset[str], str, str], bool]] = {
    "victim.priority < taker.priority": lambda jobs, _, t, v: jobs.jobs[v][2] < jobs.jobs[t][2],
    "victim.age > taker.age": lambda jobs, _, t, v: jobs.jobs[v][3] > jobs.jobs[t][3],
    "victim.queue.used > taker.queue.used": lambda jobs, running, t, v: (
        jobs.used(running, jobs.jobs[v][0]) > jobs.used(running, jobs.jobs[t][0])
    ),
    "victim.needs >= taker.needs": lambda jobs, _, t, v: jobs.jobs[v][1] >= jobs.jobs[t][1],
}


def random_contest(seed: int) -> tuple[str, Jobs]:
    draw = dice(seed)
    capacity, queues = draw.randint(1, 9), ("qa", "qb")
    jobs = {
        f"job{n}": (draw.choice(queues), draw.randint(1, 5), draw.randint(1, 3), draw.randint(1, 3))
        for n in range(draw.randint(2, 4))
    }
    admit, take = draw.choice(list(ADMITS)), draw.choice(list(TAKES))
    reserved, by_age = draw.random() < 0.2, draw.random() < 0.5
    ages = {name: f", age: {job[3]} h" if by_age or "age" in admit + take else "" for name, job in jobs.items()}
    rows = "\n".join(
        f"  {name}: {{queue: {q}, needs: {need} gpu, priority: {priority}{ages[name]}}}"
        for name, (q, need, priority, _) in jobs.items()
    )
    text = (
        f"coherence: 1\ncomponents: {{gpu: {{count: {capacity}}}}}\njobs:\n{rows}\norder:\n  admit: {admit} first\n"
        f"  preempt: for taker take victim where {take}\n  victim: returns, {'' if reserved else 'no '}reservation\n"
    )
    naive = Jobs(
        jobs, capacity, ADMITS[admit], TAKES[take], reserved=reserved,
        by_age=all(ages.values()), by_queue="queue" in take,
    )  # fmt: skip
    return text, naive


@pytest.mark.parametrize("block", range(6))
def test_random_contests_agree_with_plain_enumeration(block: int) -> None:
    seen: dict[str, int] = {}
    for seed in range(60 * block, 60 * block + 60):
        text, naive = random_contest(seed)
        found, wanted = livelock(jobs_of(text)), naive.verdict()
        vain = any(need > naive.capacity for _, need, _, _ in naive.jobs.values())
        softened = vain and (found.verdict, wanted) == ("possible", "certain")  # it takes though it fits nowhere
        assert softened or agrees(found.verdict, wanted), (seed, found.verdict, wanted, text)
        seen[wanted] = seen.get(wanted, 0) + 1
    assert len(seen) >= 2, seen


@pytest.mark.slow
def test_a_healthy_priority_scheduler_is_never_in_conflict_and_proved_where_it_reserves() -> None:
    draw = dice(7)
    for _ in range(12):
        rows = "\n".join(
            f"  j{n}: {{needs: {draw.randint(1, 4)} gpu, priority: {draw.randint(1, 4)}, copies: {draw.randint(1, 2)}}}"
            for n in range(3)
        )
        text = (
            f"coherence: 1\ncomponents: {{gpu: {{count: {draw.randint(4, 10)}}}}}\njobs:\n{rows}\norder:\n"
            "  admit: largest priority first\n  preempt: for job take other where other.priority < job.priority\n"
            "  victim: returns, no reservation\n"
        )
        assert the_answer(preempt_vs_admit, text).verdict in (Verdict.PROVED, Verdict.UNDECIDED), text
        reserving = text.replace("no reservation", "reservation")
        assert the_answer(preempt_vs_admit, reserving).verdict is Verdict.PROVED, reserving


def test_jobs_alike_are_one_kind_and_still_the_same_verdict() -> None:
    text = RECLAIM.format(cpu=16, reserve="no reservation").replace("4 cpu", "8 cpu").replace("5 cpu", "10 cpu")
    jobs = jobs_of(text.replace("3 cpu", "6 cpu").replace("needs: 1 cpu", "needs: 1 cpu, copies: 2"))
    assert [kind.number for kind in jobs.kinds] == [1, 2, 1]
    assert livelock(jobs).verdict == "certain"


def test_amounts_in_bytes_are_told_between_the_sums_of_needs() -> None:
    text = RECLAIM.format(cpu=8, reserve="no reservation").replace("cpu: {count: 8}", "node: {ram: 8 GiB}")
    for number in (1, 3, 4, 5):
        text = text.replace(f" {number} cpu", f" {{ram: {number} GiB}}" if number in (1, 4) else f" {number} GiB")
    jobs = jobs_of(text)
    assert livelock(jobs).verdict == "certain"
    assert render_intervals(jobs, sweep(jobs, "ram")) == "5 GiB to below 9 GiB"


# --- placement


@pytest.mark.parametrize("most", range(1, 51))
def test_two_spread_rules_block_the_sixth_whatever_the_maximum(most: int) -> None:
    there = places_of(SPREAD.format(most=most))
    found = placement(there, 1, most)
    naive = Nodes("aab", [None] * 3, [("zone", 1, False, True), ("node", 1, False, True)])
    assert (found.verdict, found.reached) == naive.placement(1, most)
    assert (found.verdict == "certain") == (most >= 6)


def test_seven_fit_on_paper_but_cannot_be_reached() -> None:
    there = places_of(SPREAD.format(most=7))
    assert on_paper(there, 6) is None
    assert on_paper(there, 7)
    assert unsat(no_solution(there, 6), timeout_ms=5000).unsat
    assert unsat(no_solution(there, 7), timeout_ms=5000).outcome is Outcome.SAT
    finding = the_answer(placement_feasibility, SPREAD.format(most=7))
    assert finding.severity is Severity.ERROR
    assert "7 would fit on paper but cannot be reached" in finding.message
    assert "every maximum of 6 and above, none up to 5" in finding.message


def test_the_run_to_the_blocked_state_replays_with_names() -> None:
    there = places_of(SPREAD.format(most=6))
    found = placement(there, 1, 6)
    assert found.stuck is not None
    naive = Nodes("aab", [None] * 3, [("zone", 1, False, True), ("node", 1, False, True)])
    state: tuple[int, ...] = (0, 0, 0)
    for _, after in steps_to(there, found.graph, found.stuck):
        assert flat(after) in naive.put(state)
        state = flat(after)
    assert sum(state) == 5
    assert naive.put(state) == []
    assert unsat(no_place(there, found.stuck), timeout_ms=5000).unsat


def random_places(seed: int) -> tuple[str, Nodes, int, int]:
    draw = dice(seed)
    zones = [draw.choice("ab") for _ in range(draw.randint(1, 4))]
    room = draw.choice([None, None, 1, 2])
    rules = [
        (by, draw.randint(1, 2), draw.random() < 0.15, draw.random() < 0.8)
        for by in ("zone", "node") if draw.random() < 0.8
    ]  # fmt: skip
    low, high = sorted((draw.randint(0, 6), draw.randint(1, 7)))
    said = ", ".join(
        ("" if must else "prefer ") + (f"together by {by}" if together else f"spread by {by} <= {most}")
        for by, most, together, must in rules
    )
    sites = ", ".join(f"n{n}: {{zone: {zone}{f', slots: {room}' if room else ''}}}" for n, zone in enumerate(zones))
    needs = ", needs: {slots: 1}" if room else ""
    text = (
        f"coherence: 1\ncomponents: {{web: {{copies: {low} .. {high}, returns: always{needs}}}}}\nplaces: {{{sites}}}\n"
        f"placement: {{web: [{said}]}}\n"
    )
    return text, Nodes(zones, [room] * len(zones), rules), low, high


@pytest.mark.parametrize("block", range(6))
def test_random_placements_agree_with_plain_enumeration(block: int) -> None:
    seen: dict[str, int] = {}
    for seed in range(60 * block, 60 * block + 60):
        text, naive, low, high = random_places(seed)
        if not any(rule[0] == "node" and rule[3] for rule in naive.rules):
            low = high  # where nodes do not count one by one, the fullest place is a whole zone: compare growth alone
        found = placement(places_of(text, soft=False), low, high)
        wanted = naive.placement(low, high)
        assert (found.verdict, found.reached) == wanted, (seed, text)
        seen[wanted[0]] = seen.get(wanted[0], 0) + 1
    assert len(seen) >= 2, seen


@pytest.mark.parametrize(("zones", "rule", "repeats"), [("ab", "zone", 2), ("aabb", "node", 4), ("abc", "zone", 3)])
def test_placement_that_repeats_is_told_to_repeat(zones: str, rule: str, repeats: int) -> None:
    sites = ", ".join(f"n{n}: {{zone: {zone}}}" for n, zone in enumerate(zones))
    text = (
        f"coherence: 1\ncomponents: {{web: {{copies: 9}}}}\nplaces: {{{sites}}}\n"
        f"placement: {{web: [spread by {rule} <= 1]}}\n"
    )
    found = levels(places_of(text), 60)
    assert found.ceiling is None
    assert f"every {repeats} members" in found.reason
    naive = Nodes(zones, [None] * len(zones), [(rule, 1, False, True)])
    assert naive.placement(50, 50) == ("none", 50)


def test_caps_end_what_differences_let_go_on() -> None:
    text = "coherence: 1\nplaces: {node: {count: 2}}\nplacement: {web: [spread by node <= 1, at most 2 by node]}\n"
    found = levels(places_of(text), 60)
    assert (found.ceiling, found.first) == (4, 4)
    assert on_paper(places_of(text), 4)
    assert on_paper(places_of(text), 5) is None


def family(scale: int, *, zone: bool = True) -> str:
    """An odd number of nodes, one more in zone a; one of 2n - 1 members may use 70 % more, told in whole percent."""
    nodes = 2 * (scale // 2) + 1
    return TWO_ZONES.format(
        cpu=100 + 70 // (2 * nodes - 1), larger=nodes // 2 + 1, smaller=nodes // 2, low=2 * nodes - 1, high=4 * nodes,
        zone=", spread by zone <= 1" if zone else "",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("scale", "conflict"), [(3, True), (10, True), (20, True), (30, True), (40, False), (50, False)]
)
def test_the_verdict_of_a_family_depends_on_its_size(scale: int, conflict: bool) -> None:
    finding = the_answer(placement_feasibility, family(scale))
    assert (finding.verdict is Verdict.CONFLICT) == conflict, finding.message
    assert finding.verdict is (Verdict.CONFLICT if conflict else Verdict.PROVED)
    if conflict:
        assert finding.evidence.numbers["blocked at"][0] == 2 * (2 * (scale // 2) + 1)
    without = the_answer(placement_feasibility, family(scale, zone=False))
    assert without.verdict is Verdict.PROVED


# --- evictor against placer


@pytest.mark.slow
def test_an_evictor_of_duplicates_never_rests_with_fewer_nodes_than_members() -> None:
    for nodes in range(1, 51):
        assert eviction(DUPLICATES.format(copies=12, nodes=nodes, rule="", above=1), 12) == (
            "certain" if nodes < 12 else "possible"
        ), nodes


def test_the_answer_about_duplicates_names_the_numbers_of_nodes() -> None:
    text = DUPLICATES.format(copies=12, nodes=3, rule="", above=1)
    finding = the_answer(evictor_vs_placer, text)
    assert (finding.verdict, finding.certainty) == (Verdict.CONFLICT, "certain")
    assert "node: conflict at 1 to 11, left to the placer at 12 and above" in finding.message
    assert len(finding.repairs) == 3
    assert not list(hopeless_eviction.ask(subject(text)))


def test_beside_other_places_up_to_fifty_nodes_are_tried() -> None:
    text = DUPLICATES.format(copies=4, nodes=2, rule="", above=1).replace("places: {", "places: {rack: {count: 1}, ")
    message = the_answer(evictor_vs_placer, text).message
    assert "node: conflict at 1 to 2, left to the placer at 3 to 50 (checked up to 50)" in message


def test_without_a_word_about_the_placer_enough_nodes_are_undecided() -> None:
    finding = the_answer(evictor_vs_placer, DUPLICATES.format(copies=12, nodes=12, rule="", above=1))
    assert finding.verdict is Verdict.UNDECIDED
    assert "needs placement of web" in finding.message


@pytest.mark.parametrize("rule", ["spread by node <= 1", "prefer spread by node <= 1"])
def test_as_many_nodes_as_members_and_a_placer_that_spreads_are_harmless(rule: str) -> None:
    text = DUPLICATES.format(copies=4, nodes=4, rule=f"placement: {{web: [{rule}]}}", above=1)
    finding = the_answer(evictor_vs_placer, text)
    assert finding.verdict is Verdict.PROVED
    assert finding.evidence.certificate is not None


@pytest.mark.parametrize("nodes", [1, 2, 3, 5, 9, 20, 50])
@pytest.mark.parametrize("rule", ["", "prefer spread by node <= 1", "prefer together by node"])
def test_two_members_on_up_to_50_nodes_agree_with_plain_enumeration(nodes: int, rule: str) -> None:
    text = DUPLICATES.format(copies=2, nodes=nodes, rule=f"placement: {{web: [{rule}]}}" if rule else "", above=1)
    rules = [("node", 1, "together" in rule, False)] if rule else []
    assert eviction(text, 2) == Nodes("a" * nodes, [None] * nodes, rules).chase(2, "node", 1)


def eviction(text: str, members: int) -> str:
    design = read_text(text)
    loop = next(loop for loop in design.loops.values() if loop.actuation and loop.actuation.evict)
    one = evictor("web", loop.trigger.tree)  # type: ignore[union-attr]
    assert one is not None
    there = cluster(known(subject(text)), "web", by=one.labels)
    found = chase((one,), there, members, {})
    if found.cycle:
        assert found.first is not None
        state = found.first
        for edge in found.cycle:
            assert any(
                sorted(map(sorted, m.to)) == sorted(map(sorted, edge.to)) for m in moves((one,), there, state, {})
            )
            state = edge.to
        assert state == found.first
    return "quiet" if found.verdict in ("none", "idle") else found.verdict


@pytest.mark.parametrize("block", range(6))
def test_random_evictions_agree_with_plain_enumeration(block: int) -> None:
    seen: dict[str, int] = {}
    for seed in range(60 * block, 60 * block + 60):
        draw = dice(seed + 10_000)
        text, naive, _, high = random_places(seed)
        by, above, members = draw.choice(("zone", "node")), draw.randint(1, 3), min(high, 5)
        loop = f"loops: {{sweep: {{trigger: count of web by {by} > {above}, actuation: {{evict: web}}}}}}\n"
        wanted = naive.chase(members, by, above)
        if wanted == "blocked":
            continue
        assert eviction(text + loop, members) == wanted, (seed, text + loop)
        seen[wanted] = seen.get(wanted, 0) + 1
    assert len(seen) == 3, seen


# --- gangs


@pytest.mark.parametrize("capacity", range(1, 9))
@pytest.mark.parametrize("sizes", [(2, 2), (3, 2), (3, 3), (2, 2, 2), (4, 2)])
@pytest.mark.parametrize("whole", [False, True])
def test_members_that_wait_for_each_other_agree_with_plain_enumeration(
    capacity: int, sizes: tuple[int, ...], whole: bool
) -> None:
    key = "gang" if whole else "barrier"
    rows = "\n".join(f"  job{n}: {{needs: 1 gpu, copies: {size}, {key}: all}}" for n, size in enumerate(sizes))
    found = gangs.standstill(jobs_of(f"coherence: 1\ncomponents: {{gpu: {{count: {capacity}}}}}\njobs:\n{rows}\n"))
    wanted = naive_standstill([(size, whole) for size in sizes], capacity)
    assert ("stuck" if found.verdict in ("possible", "certain") else found.verdict) == wanted


HALVES = """coherence: 1
components: {{gpu: {{count: 8}}}}
jobs:
  one: {{needs: 1 gpu, copies: 8, {key}: all, age: 2 h}}
  two: {{needs: 1 gpu, copies: 8, {key}: all, age: 1 h}}
{order}
"""


@pytest.mark.parametrize(
    ("key", "order", "verdict", "certainty"),
    [
        ("barrier", "", Verdict.CONFLICT, "possible"),
        ("barrier", "order: {admit: smallest job.held first}", Verdict.CONFLICT, "certain"),
        ("barrier", "order: {admit: largest job.age first}", Verdict.PROVED, ""),
        ("gang", "", Verdict.PROVED, ""),
    ],
)
def test_the_order_and_the_gang_decide(key: str, order: str, verdict: Verdict, certainty: str) -> None:
    finding = the_answer(gang_vs_barrier, HALVES.format(key=key, order=order))
    assert (finding.verdict, finding.certainty) == (verdict, certainty)


def test_the_deadlock_replays() -> None:
    jobs = jobs_of(HALVES.format(key="barrier", order=""))
    found, state = gangs.standstill(jobs), nobody(jobs)
    for edge in found.way:
        assert edge in found.graph.edges[state]
        state = edge.to
    assert state == found.stuck == ((4,), (4,))
    assert not found.graph.edges[state]


# --- certificates


PREFER = "placement: {web: [prefer spread by node <= 1]}"
PROVED = (
    (preempt_vs_admit, RECLAIM.format(cpu=9, reserve="no reservation")),
    (preempt_vs_admit, RECLAIM.format(cpu=8, reserve="reservation")),
    (placement_feasibility, SPREAD.format(most=5)),
    (placement_feasibility, family(10, zone=False)),
    (evictor_vs_placer, DUPLICATES.format(copies=4, nodes=4, rule="placement: {web: [spread by node <= 1]}", above=1)),
    (evictor_vs_placer, DUPLICATES.format(copies=4, nodes=2, rule=PREFER, above=2)),
    (evictor_vs_placer, DUPLICATES.format(copies=4, nodes=2, rule="", above=4)),
    (evictor_vs_placer, DUPLICATES.format(copies=4, nodes=4, rule="placement: {web: ties at random}", above=1)),
    (placement_feasibility, SPREAD.format(most=3).replace("spread by zone <= 1", "at most 2 by zone")),
    (gang_vs_barrier, HALVES.format(key="gang", order="")),
)  # fmt: skip


@pytest.mark.parametrize(("module", "text"), PROVED)
def test_cvc5_checks_the_certificates_again(module: object, text: str) -> None:
    pytest.importorskip("cvc5")
    finding = the_answer(module, text)
    assert finding.verdict is Verdict.PROVED
    assert finding.evidence.certificate is not None
    assert recheck(finding.evidence.certificate).unsat


def test_a_certificate_of_a_blocked_state_is_refused() -> None:
    there = places_of(SPREAD.format(most=6))
    found = placement(there, 1, 6)
    script = obligations.always_a_place([(there, found)], 6)
    assert script is not None
    assert unsat(script, timeout_ms=5000).outcome is Outcome.SAT


def test_a_blocked_state_of_one_variant_is_not_excused_by_the_places_of_another() -> None:
    blocked = places_of(SPREAD.format(most=6))
    free = replace(blocked, rules=())
    script = obligations.always_a_place([(there, placement(there, 1, 6)) for there in (free, blocked)], 6)
    assert script is not None
    assert unsat(script, timeout_ms=5000).outcome is Outcome.SAT


# --- what is missing is asked for


@pytest.mark.parametrize(
    ("module", "old", "new", "needs"),
    [
        (preempt_vs_admit, "cpu: {count: 8}, ", "", "needs the capacity of cpu"),
        (preempt_vs_admit, "q1: {deserved: 3 cpu}", "q1: {weight: 3 cpu}", "needs q1.deserved"),
        (preempt_vs_admit, "  victim: returns, no reservation\n", "", "needs victim of order"),
        (preempt_vs_admit, "  admit: smallest queue.used / queue.deserved first\n", "", "needs admit of order"),
        (preempt_vs_admit, "needs: 1 cpu", "needs: 1 cpu .. 2 cpu", "needs one value for what pod2 needs of cpu"),
    ],
)
def test_a_missing_fact_is_named(module: object, old: str, new: str, needs: str) -> None:
    text = RECLAIM.format(cpu=8, reserve="no reservation")
    assert old in text
    finding = the_answer(module, text.replace(old, new))
    assert finding.verdict is Verdict.UNDECIDED
    assert needs in finding.message


def test_places_without_a_label_are_asked_for_it() -> None:
    finding = the_answer(placement_feasibility, SPREAD.format(most=6).replace("n3: {zone: b}", "n3: {}"))
    assert finding.verdict is Verdict.UNDECIDED
    assert "needs zone of n3" in finding.message


def test_an_evicted_member_without_returns_is_asked_for() -> None:
    text = DUPLICATES.format(copies=12, nodes=3, rule="", above=1).replace(", returns: always", "")
    assert "needs returns of web" in the_answer(evictor_vs_placer, text).message
    gone = text.replace("copies: 12", "copies: 12, returns: never")
    assert not list(evictor_vs_placer.ask(subject(gone)))


def test_a_bound_that_is_not_enough_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_livelock, "MOST_STATES", 5)
    monkeypatch.setattr(preempt_vs_admit, "livelock", lambda jobs: livelock(jobs, most=5))
    finding = the_answer(preempt_vs_admit, RECLAIM.format(cpu=8, reserve="no reservation"))
    assert finding.verdict is Verdict.UNDECIDED
    assert finding.evidence.bound


def test_states_alike_are_one() -> None:
    text = DUPLICATES.format(copies=6, nodes=3, rule="", above=2)
    there = places_of(text)
    assert all(total(state) <= 6 for state in placement(there, 6, 6).graph.edges)
    assert len(placement(there, 6, 6).graph.edges) == 7  # one place per count: nothing tells the nodes apart


# --- what else the language may say


def test_a_range_of_capacities_is_judged_at_every_amount() -> None:
    text = RECLAIM.format(cpu=8, reserve="no reservation")
    certain, some, none = (text.replace("count: 8", f"count: {span}") for span in ("6 .. 8", "7 .. 12", "9 .. 40"))
    assert the_answer(preempt_vs_admit, certain).certainty == "certain"
    assert the_answer(preempt_vs_admit, some).certainty == "possible"
    assert the_answer(preempt_vs_admit, none).verdict is Verdict.PROVED


def test_a_range_of_nodes_is_judged_at_every_number() -> None:
    rule = "placement: {web: [prefer spread by node <= 1]}"
    texts = [DUPLICATES.format(copies=6, nodes=span, rule=rule, above=1) for span in ("2 .. 5", "4 .. 8", "6 .. 9")]
    found = [the_answer(evictor_vs_placer, text) for text in texts]
    assert [one.certainty for one in found] == ["certain", "possible", ""]
    assert found[2].verdict is Verdict.PROVED


def test_components_hold_their_part_of_a_capacity() -> None:
    text = RECLAIM.format(cpu=11, reserve="no reservation")
    assert the_answer(preempt_vs_admit, text).verdict is Verdict.PROVED
    beside = text.replace("q1: {deserved", "agent: {copies: 3, needs: 1 cpu}, q1: {deserved")
    finding = the_answer(preempt_vs_admit, beside)
    assert finding.verdict is Verdict.CONFLICT
    assert "8 to 11 cpu" in finding.message


def test_rules_may_name_queues_and_limits_hold_admissions_back() -> None:
    text = RECLAIM.format(cpu=8, reserve="no reservation")
    text = text.replace(
        "for pod3 take job where job.queue.used > job.queue.deserved", "for q2 take q1 where q1.used > 3 cpu"
    )
    assert the_answer(preempt_vs_admit, text).certainty == "certain"
    capped = text + "limits: {cap: {counts: q1.used, at_most: q1.deserved}, other: {counts: web.down, at_most: 1}}\n"
    assert the_answer(preempt_vs_admit, capped).verdict is Verdict.PROVED


def test_equals_that_may_take_from_each_other_do_so_for_ever() -> None:
    text = (
        "coherence: 1\ncomponents: {gpu: {count: 2}}\njobs: {one: {needs: 1 gpu, copies: 4, priority: 1}}\norder:\n"
        "  admit: largest priority first\n  preempt: for job take other where other.priority SIGN job.priority\n"
        "  victim: returns, no reservation\n"
    )
    assert the_answer(preempt_vs_admit, text.replace("SIGN", "<=")).certainty == "certain"
    assert the_answer(preempt_vs_admit, text.replace("SIGN", "<")).verdict is Verdict.PROVED


def test_a_victim_that_leaves_ends_the_cycle() -> None:
    text = RECLAIM.format(cpu=8, reserve="no reservation").replace("returns, no reservation", "leaves")
    assert the_answer(preempt_vs_admit, text).verdict is Verdict.PROVED


@pytest.mark.parametrize(("members", "nodes", "above"), [(120, 40, 3), (121, 40, 4), (150, 7, 22)])
def test_a_placer_that_evens_out_brings_any_number_to_rest(members: int, nodes: int, above: int) -> None:
    rule = "placement: {web: [prefer spread by node <= 1]}"
    finding = the_answer(evictor_vs_placer, DUPLICATES.format(copies=members, nodes=nodes, rule=rule, above=above))
    assert finding.verdict is Verdict.PROVED
    assert finding.evidence.certificate is not None
    less = the_answer(evictor_vs_placer, DUPLICATES.format(copies=members, nodes=nodes, rule=rule, above=above - 1))
    assert less.certainty == "certain"


@pytest.mark.parametrize("places", ["{}", "{node: {count: 0}}"])
def test_no_places_at_all_are_asked_for(places: str) -> None:
    text = DUPLICATES.format(copies=3, nodes=1, rule="placement: {web: [spread by node <= 1]}", above=1)
    finding = the_answer(evictor_vs_placer, text.replace("{node: {count: 1}}", places))
    assert finding.verdict is Verdict.UNDECIDED


def test_nodes_added_in_the_small_zone_make_room() -> None:
    loop = (
        "loops: {grow: {trigger: web.pending > 0, actuation: {signal: n3.count, law: step, by: 1, bounds: [1, 2]}}}\n"
    )
    finding = the_answer(placement_feasibility, SPREAD.format(most=6) + loop)
    assert finding.verdict is Verdict.PROVED
    assert finding.evidence.certificate is not None
    assert unsat(finding.evidence.certificate, timeout_ms=5000).unsat
    assert any("places are added when a member finds none" in one for one in finding.assumptions)


@pytest.mark.parametrize(
    ("name", "module"), [("PB-05", preempt_vs_admit), ("SE-01", evictor_vs_placer), ("SE-05", placement_feasibility)]
)
def test_the_written_incidents(name: str, module: object) -> None:
    finding = the_answer(module, (DESIGNS / f"{name}.yaml").read_text())
    assert (finding.verdict, finding.certainty) == (Verdict.CONFLICT, "certain")
    assert finding.repairs
