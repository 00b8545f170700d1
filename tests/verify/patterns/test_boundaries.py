"""Each named pattern at its boundary: the condition computed here from the numbers, the answer from the design."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from types import ModuleType

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coherence.findings.finding import Finding, Severity, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.calls import budget_containment, retry_window
from coherence.verify.patterns.limits import (
    ejection_panic,
    limit_against_demand,
    memory_admission,
    overload,
    removal_cascade,
)
from coherence.verify.patterns.promises import stated_numbers
from coherence.verify.patterns.sensors import sensor_saturation, sensor_window
from coherence.verify.patterns.timers import (
    overlapping_periods,
    response_time,
    spent_budget,
    start_budget,
    timer_against_activity,
    timer_order,
)

CONFLICT, PROVED, UNDECIDED = Verdict.CONFLICT, Verdict.PROVED, Verdict.UNDECIDED
cases = settings(max_examples=80, deadline=None)


def answers(module: ModuleType, body: str) -> list[Finding]:
    """What one question says about a design."""
    text = f"coherence: 1\n{body}\n"
    return list(module.ask(Subject(read_text(text, "case.yaml"), {"case.yaml": text})))


def only(module: ModuleType, body: str) -> Finding:
    """Its one answer."""
    found = answers(module, body)
    assert len(found) == 1, [f.message for f in found]
    return found[0]


def certain(finding: Finding) -> bool:
    return finding.verdict is CONFLICT and finding.severity is Severity.ERROR


def number(finding: Finding, name: str) -> Fraction:
    return Fraction(finding.evidence.numbers[name][0])


@pytest.mark.slow
@cases
@given(st.integers(2, 9), st.integers(1, 40), st.integers(0, 20), st.data())
def test_containment(tries: int, each: int, pause: int, data: st.DataObject) -> None:
    needed = tries * each + (tries - 1) * pause
    deadline = data.draw(st.integers(max(each + 1, needed - 3), needed + 3))
    finding = only(
        budget_containment,
        f"calls: [{{from: a, to: b, deadline: {deadline} ms, per_try: {each} ms, tries: {tries}, "
        f"pause: {pause} ms, retry_when: [timeout]}}]",
    )
    assert finding.verdict is (CONFLICT if needed > deadline else PROVED)
    if needed > deadline:
        starts = [k * (each + pause) for k in range(tries)]
        assert number(finding, "tries started") == sum(s < deadline for s in starts)
        assert number(finding, "tries completed") == sum(s + each <= deadline for s in starts)
    else:
        assert (finding.severity is Severity.WARNING) == (needed == deadline)


@cases
@given(st.integers(1, 60), st.integers(1, 200), st.integers(0, 60))
def test_lease(lease: int, low: int, more: int) -> None:
    high = low + more
    finding = only(
        timer_against_activity,
        f"components: {{worker: {{takes: {{task: {low} s .. {high} s}}}}}}\n"
        f"timers: {{lease: {{from: worker.task starts, after: {lease} s, unless: worker.task ends, then: redeliver}}}}",
    )
    assert finding.verdict is (CONFLICT if high >= lease else PROVED)
    assert certain(finding) == (low > lease)
    if finding.verdict is CONFLICT:
        assert number(finding, "copies at most") == max(2, len(range(0, high, lease)))  # at equality it may
        assert number(finding, "copies at least") == len(range(0, low, lease))


@cases
@given(st.integers(0, 60), st.integers(1, 20), st.integers(1, 9), st.integers(0, 30), st.data())
def test_probe_budget(first: int, every: int, misses: int, reply: int, data: st.DataObject) -> None:
    earliest = first + (misses - 1) * every
    latest = first + every + (misses - 1) * max(every, reply) + reply
    low = data.draw(st.integers(max(1, earliest - 3), latest + 3))
    high = data.draw(st.integers(low, latest + 5))
    finding = only(
        start_budget,
        f"components: {{server: {{takes: {{load: {low} s .. {high} s}}}}}}\n"
        f"timers: {{probe: {{from: server starts, first: {first} s, every: {every} s, misses: {misses}, "
        f"reply_within: {reply} s, unless: server.load ends, then: restart server}}}}",
    )
    assert finding.verdict is (PROVED if high < earliest else CONFLICT)
    assert certain(finding) == (low > latest)


@cases
@given(st.integers(1, 300), st.integers(1, 300))
def test_saturation(setpoint: int, cap: int) -> None:
    finding = only(
        sensor_saturation,
        f"limits: {{slots: {{counts: m.busy, at_most: {cap} %}}}}\n"
        f"loops: {{hpa: {{uses: kubernetes_hpa, target: {{signal: m.busy, setpoint: {setpoint} %}}, "
        "actuation: {signal: m.desired, bounds: [1, 9]}}}",
    )
    assert finding.verdict is (CONFLICT if setpoint * Fraction(11, 10) >= cap else PROVED)


@cases
@given(st.integers(1, 90), st.integers(1, 200), st.sampled_from(["rate", "irate", "last"]), st.integers(1, 60))
def test_sampling_window(scrape: int, window: int, kind: str, period: int) -> None:
    finding = only(
        sensor_window,
        f"loops: {{l: {{target: {{signal: m.q, setpoint: 5, sensor: [scrape {scrape} s, {kind} {window} s]}}, "
        f"timescale: {{period: {period} s}}, actuation: {{signal: m.n, bounds: [1, 9]}}}}}}",
    )
    need = 1 if kind == "last" else 2
    # samples in (t - W, t] for every phase t of the grid of half seconds
    counts = [
        sum(1 for k in range(-400, 1) if 2 * k * scrape > t - 2 * window and 2 * k * scrape <= t)
        for t in range(2 * scrape)
    ]
    assert finding.verdict is (PROVED if min(counts) >= need else CONFLICT)
    if max(counts) < need:
        assert certain(finding)


@pytest.mark.slow
@cases
@given(st.integers(1, 40), st.integers(0, 100))
def test_rounding_of_budgets(copies: int, percent: int) -> None:
    floor = only(
        limit_against_demand,
        f"components: {{web: {{copies: {copies}}}}}\n"
        "limits: {pdb: {uses: pod_disruption_budget, counts: web.available, "
        f"at_least: {percent} % of web.copies}}}}",
    )
    assert floor.verdict is (CONFLICT if copies + (-copies * percent // 100) < 1 else PROVED)
    cap = only(
        limit_against_demand,
        f"components: {{web: {{copies: {copies}}}}}\n"
        "limits: {pdb: {uses: pod_disruption_budget, counts: web.unavailable, "
        f"at_most: {percent} % of web.copies}}}}",
    )
    assert cap.verdict is (CONFLICT if -(-copies * percent // 100) < 1 else PROVED)


@cases
@given(
    st.integers(1, 40), st.integers(0, 100), st.integers(0, 100), st.integers(0, 40), st.sampled_from(["up", "down"])
)
def test_ejection_against_panic(hosts: int, percent: int, panic: int, failing: int, way: str) -> None:
    finding = only(
        ejection_panic,
        f"components: {{h: {{copies: {hosts}, failing: {failing}}}}}\n"
        f"limits: {{cap: {{counts: h.ejected, at_most: {percent} % of h.copies round {way}}}}}\n"
        f"loops: {{panic: {{trigger: h.healthy / h.copies < {panic} %, "
        "actuation: {signal: h.ejected, law: ignore}}}",
    )
    share = Fraction(percent * hosts, 100)
    ejectable = min(hosts, math.ceil(share) if way == "up" else math.floor(share))
    undone = [k for k in range(ejectable + 1) if Fraction(hosts - k, hosts) < Fraction(panic, 100)]
    fewest = max(1, undone[0]) if undone else hosts if ejectable == hosts else None
    broken = fewest is not None and fewest <= ejectable and (fewest == 1 or failing >= fewest)
    assert finding.verdict is (CONFLICT if broken else PROVED), finding.message


@cases
@given(st.integers(1, 300), st.integers(1, 4000), st.integers(1, 40))
def test_memory_admission(blocks: int, longest: int, running: int) -> None:
    finding = only(
        memory_admission,
        f"workload: {{requests: {{rate: 4 req/s, tokens: {{mean: 1, cv: 0.5, max: {longest}}}}}}}\n"
        f"limits:\n  seqs: {{counts: engine.running, at_most: {running}, when_full: wait}}\n"
        f"  blocks: {{counts: sum of request.tokens / 16 round up, at_most: {blocks}, when_full: evict and redo}}",
    )
    each = -(-longest // 16)
    expected = CONFLICT if each > blocks else PROVED if running * each <= blocks else UNDECIDED
    assert finding.verdict is expected


@cases
@given(st.integers(0, 30), st.integers(0, 10), st.integers(1, 70))
def test_step_cost(low: int, more: int, limit: int) -> None:
    finding = only(
        limit_against_demand,
        f"components: {{agent: {{turns: {low} .. {low + more}}}}}\n"
        f"limits: {{steps: {{counts: 2 * agent.turns + 1, at_most: {limit}, per: run, when_full: fail and lose}}}}",
    )
    assert finding.verdict is (PROVED if 2 * (low + more) + 1 <= limit else CONFLICT)
    assert certain(finding) == (2 * low + 1 > limit)


@cases
@given(st.integers(2, 9), st.integers(1, 20), st.integers(0, 5), st.integers(1, 60), st.data())
def test_retry_window(tries: int, base: int, fails: int, cap: int, data: st.DataObject) -> None:
    pauses = [min(base * 2**k, cap) for k in range(tries - 1)]
    last = sum(pauses) + (tries - 2) * fails  # after the end of the first try
    wait = data.draw(st.integers(max(1, last - 3), last + 3))
    finding = only(
        retry_window,
        f"timers: {{cool: {{from: full, after: {wait} s, then: list b}}}}\n"
        f"calls: [{{from: a, to: b, tries: {tries}, pause: {{base: {base} s, cap: {cap} s, factor: 2}}, "
        f"retry_when: [full], fails: {{full: {fails} s}}}}]\npromises: {{useful: cool before last try}}",
    )
    assert finding.verdict is (PROVED if last > wait else CONFLICT)


@cases
@given(st.integers(1, 60), st.integers(0, 3), st.integers(1, 60))
def test_order_of_two_clocks(one: int, jitter: int, other: int) -> None:
    finding = only(
        timer_order,
        f"timers:\n  a: {{from: idle, after: {one} s, jitter: {jitter} s, then: log it}}\n"
        f"  b: {{from: idle, after: {other} s, then: close it}}\npromises: {{p: a before b}}",
    )
    assert finding.verdict is (PROVED if one + jitter < other else CONFLICT)


@cases
@given(st.integers(1, 12), st.integers(1, 40), st.integers(1, 400))
def test_removal_cascade(members: int, each: int, asked: int) -> None:
    body = (
        f"workload: {{w: {{rate: {asked} req/s}}}}\n"
        f"components: {{pods: {{copies: {members}, load: w.rate, rate_per_replica: {each} req/s}}}}\n"
        "timers: {probe: {from: pods overloaded, every: 5 s, misses: 3, then: unlist pods}}"
    )
    finding = only(removal_cascade, body)
    out, taken = 1, 1  # one is gone for another reason; every overloaded rest loses one more
    while out < members and asked >= (members - out) * each:
        out, taken = out + 1, taken + 1
    assert (finding.verdict is CONFLICT) == ((members > 1 and out == members) or asked >= members * each)
    assert certain(finding) == (asked >= members * each)


@pytest.mark.slow
@cases
@given(st.integers(1, 9), st.integers(1, 30), st.integers(1, 200))
def test_spent_budget(lives: int, apart: int, window: int) -> None:
    finding = only(
        spent_budget,
        "components: {run: {returns: always}}\n"
        f"limits: {{n: {{counts: run.failures, at_most: {lives}, window: {window} min, when_full: fail and lose}}}}\n"
        f"timers: {{spot: {{from: node starts, every: {apart} min, then: evict run}}}}",
    )
    times = range(0, 20 * (apart + window), apart)
    most = max(sum(end - window < t <= end for t in times) for end in range(apart + window + 1))
    assert finding.verdict is (CONFLICT if most > lives else PROVED)


@cases
@given(st.integers(1, 60), st.integers(0, 20), st.integers(1, 80), st.integers(0, 3))
def test_overlapping_periods(low: int, more: int, every: int, jitter: int) -> None:
    finding = only(
        overlapping_periods,
        f"components: {{r: {{takes: {{save: {low} s .. {low + more} s}}}}}}\n"
        f"timers: {{t: {{from: job starts, every: {every} s, jitter: {jitter} s, then: r.save starts}}}}",
    )
    assert finding.verdict is (PROVED if low + more <= every - 2 * jitter else CONFLICT)
    assert certain(finding) == (low > every + 2 * jitter)


@cases
@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 50), st.integers(0, 20), st.integers(1, 120))
def test_response_time(wait: int, more: int, work: int, longer: int, within: int) -> None:
    finding = only(
        response_time,
        f"components: {{m: {{takes: {{infer: {work} ms .. {work + longer} ms}}}}}}\n"
        f"timers: {{batch: {{from: request arrives, after: {wait} ms .. {wait + more} ms, then: m.infer starts}}}}\n"
        f"promises: {{slo: after request arrives then m.infer ends within {within} ms}}",
    )
    assert finding.verdict is (PROVED if wait + more + work + longer <= within else CONFLICT)
    assert certain(finding) == (wait + work > within)


@cases
@given(st.integers(1, 9), st.integers(1, 200), st.integers(1, 60), st.integers(1, 90), st.integers(1, 9))
def test_overload_and_patience(members: int, service: int, asked: int, queue: int, patience: int) -> None:
    found = answers(
        overload,
        f"workload: {{w: {{rate: {asked} req/s, service: {{mean: {service} ms}}}}}}\n"
        f"components: {{e: {{copies: {members}}}}}\n"
        f"limits: {{q: {{counts: e.waiting, at_most: {queue}, when_full: reject}}}}\n"
        f"calls: [{{from: w, to: e, per_try: {patience} s, on_timeout: cancel}}]",
    )
    rate = Fraction(1000 * members, service)
    assert found[0].verdict is (PROVED if asked < rate else Verdict.NOTE)  # it sheds: said, and no conflict
    assert found[1].verdict is (PROVED if queue <= patience * rate else CONFLICT)


@cases
@given(st.integers(1, 50), st.integers(0, 20), st.integers(1, 60), st.sampled_from(["<", "<=", ">", ">="]))
def test_stated_numbers(low: int, more: int, other: int, op: str) -> None:
    compare = {"<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__}[op]
    held = [compare(value, other) for value in range(low, low + more + 1)]
    found = answers(
        stated_numbers,
        f"components: {{a: {{x: {low} .. {low + more}}}, b: {{y: {other}}}}}\npromises: {{p: a.x {op} b.y}}",
    )
    verdicts = _verdicts(found)
    assert verdicts == ([PROVED] if all(held) else [CONFLICT] if any(held) else [])


def _verdicts(found: Iterable[Finding]) -> list[Verdict]:
    return [finding.verdict for finding in found]


@cases
@given(st.integers(2, 6), st.integers(10, 60), st.integers(1, 300), st.integers(0, 3))
def test_a_capped_removal_never_lies(members: int, each: int, asked: int, cap: int) -> None:
    assume(cap < members)
    finding = only(
        removal_cascade,
        f"workload: {{w: {{rate: {asked} req/s}}}}\n"
        f"components: {{pods: {{copies: {members}, load: w.rate, rate_per_replica: {each} req/s}}}}\n"
        f"limits: {{keep: {{counts: pods.ready, at_least: {members - cap}}}}}\n"
        "timers: {probe: {from: pods overloaded, every: 5 s, misses: 3, then: unlist pods}}",
    )
    if finding.verdict is PROVED:
        assert asked < (members - cap) * each
