"""Proofs of slot locking, priority inversion and queue inflation beside plain runs of drawn designs: none is broken."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable

import pytest

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.placement import priority_inversion, queue_inflation, slot_locking
from tests.verify.patterns.placement.plain_pools import Pool, PoolRun, Sender, at_once

DRAWS = 500  # designs of each kind
RUNS = 3  # of each proof
RARE = "rate: 0.001 req/s"


def burst(rng: random.Random, names: Iterable[str], number: int = 40, within: int = 6000) -> list[tuple[int, str]]:
    """Returns arrivals of which a part comes at once, one sender after another, and the rest whenever it likes."""
    every = list(names)
    first = [(0, name) for name in rng.sample(every, len(every)) for _ in range(rng.randint(0, 8))]
    return sorted(
        [*first, *((rng.randrange(within), rng.choice(every)) for _ in range(number))], key=lambda own: own[0]
    )


def limits_text(caps: dict[str, int | None], rest: str = "") -> str:
    lines = [
        f"  l{n}: {{counts: {name} in flight, at_most: {most} req, when_full: wait}}\n"
        for n, (name, most) in enumerate(caps.items()) if most is not None
    ]  # fmt: skip
    return f"limits:\n{''.join(lines)}{rest}" if lines or rest else ""


def drawn_senders(rng: random.Random, names: Iterable[str], times: tuple[int, ...]) -> dict[str, Sender]:
    return {
        name: Sender(
            ("pool",), rng.choice(times), deadline=rng.choice((None, 1000, 2000, 3000)), cancels=rng.random() < 0.6,
            most=rng.choice((None, None, 1, 2, 3)),
        )
        for name in names
    }  # fmt: skip


def workload_text(senders: dict[str, Sender]) -> str:
    lines = []
    for name, own in senders.items():
        deadline = f", deadline: {own.deadline} ms" if own.deadline is not None else ""
        service = f", service: {own.service} ms" if own.service else ""
        lines.append(f"  {name}: {{{RARE}, priority: {own.priority}{service}{deadline}}}\n")
    return f"coherence: 1\nworkload:\n{''.join(lines)}"


def calls_text(senders: dict[str, Sender], pools: dict[str, Pool]) -> str:
    calls = [
        f"{{from: {name}, to: {pool}, on_timeout: {'cancel' if own.cancels else 'abandon'}}}"
        for name, own in senders.items() for pool in own.pools
    ]  # fmt: skip
    for name, pool in pools.items():
        ends = f", deadline: {pool.ends} ms, on_timeout: cancel" if pool.ends is not None else ""
        calls += [f"{{from: {name}, to: {pool.onward}{ends}}}"] if pool.onward else []
    return f"calls: [{', '.join(calls)}]\n"


def answer(question: object, text: str) -> list[Finding]:
    return list(question.ask(Subject(read_text(text, "d"), {"d": text})))  # type: ignore[attr-defined]


def holds_of(run: PoolRun, pool: str, names: set[str]) -> list[tuple[int, int]]:
    return [(begun, ended) for at, sender, _, begun, ended in run.holds if at == pool and sender in names]


def at_work(pool: Pool) -> int:
    """Returns how many members of a pool may serve at once."""
    return pool.members if pool.slots is None else min(pool.members, pool.slots)


def locked_design(rng: random.Random) -> tuple[str, dict[str, Sender], dict[str, Pool], bool]:
    """Returns a pool that two or three workloads share, which may call another one, with members that may go."""
    senders = drawn_senders(rng, ("users", "reports", "mail")[: rng.randint(2, 3)], (20, 400, 1500, 3000))
    onward, by_rate = rng.random() < 0.4, rng.random() < 0.3
    ends = rng.choice((None, 100, 500, 2500)) if onward else None
    slots = rng.choice((None, None, 1, 2, 3))
    serve = rng.choice((20, 900, 9000)) if by_rate or onward else 0
    pools = {"pool": Pool(rng.randint(1, 4), serve, onward="db" if onward else "", ends=ends, slots=slots)}
    pools |= {"db": Pool(rng.randint(1, 2), rng.choice((50, 700, 4000)))} if onward else {}
    evicts = rng.random() < 0.2
    rate = ", rate_per_copy: 0.5 req/s" if serve else ""
    db = f", db: {{copies: {pools['db'].members}, takes: {{serve: {pools['db'].serve} ms}}}}" if onward else ""
    things = f"components: {{pool: {{copies: {pools['pool'].members}{rate}}}{db}}}\n"
    drain = "loops: {drain: {trigger: pool.drift > 3, timescale: {period: 5 s}, actuation: {evict: pool}}}\n"
    caps = {name: own.most for name, own in senders.items()} | {"pool": slots}
    text = workload_text(senders) + things + calls_text(senders, pools) + limits_text(caps)
    return text + (drain if evicts else ""), senders, pools, evicts


@pytest.mark.slow
def test_no_run_holds_more_members_beyond_the_patience_than_is_proved() -> None:
    rng, verdicts = random.Random(250), Counter[Verdict]()  # noqa: S311
    for _ in range(DRAWS):
        text, senders, pools, evicts = locked_design(rng)
        for finding in answer(slot_locking, text):
            verdicts[finding.verdict] += 1
            if finding.verdict is Verdict.PROVED:
                assert not evicts, text
                patience = int(finding.evidence.numbers["patience"][0] * 1000)
                held, members = (finding.evidence.numbers[name][0] for name in ("held", "members"))
                for _ in range(RUNS):
                    run = PoolRun(pools, senders).run(burst(rng, senders))
                    spans = [own for own in holds_of(run, "pool", set(senders)) if own[1] - own[0] > patience]
                    assert at_once(spans) <= held < members, text
                    assert at_once(spans) < at_work(pools["pool"]), text
    assert min(verdicts[verdict] for verdict in (Verdict.PROVED, Verdict.CONFLICT, Verdict.UNDECIDED)) > 5, verdicts


def inverted_design(rng: random.Random) -> tuple[str, dict[str, Sender], dict[str, Pool], bool]:
    """Returns an interface that holds its members while it calls a database, and workloads that call one or both."""
    names = ("urgent", "batch", "users", "mail")
    senders = {
        name: Sender(pools, priority=rng.randint(0, 3), most=rng.choice((None, 1, 1, 2)))
        for name, pools in zip(
            names, (("api",), ("api",), ("db",), rng.choice((("db",), ("api",), ("api", "db")))), strict=True
        )
    }
    slots = rng.choice((None, None, None, 1))
    pools = {
        "api": Pool(rng.randint(1, 3), 5, by_priority=True, onward="db"),
        "db": Pool(rng.randint(1, 4), 100, by_priority=True, slots=slots),
    }
    things = (
        f"components:\n  api: {{copies: {pools['api'].members}, discipline: priority, takes: {{serve: 5 ms}}}}\n"
        f"  db: {{copies: {pools['db'].members}, discipline: priority, rate_per_copy: 10 req/s}}\n"
    )
    evicts = rng.random() < 0.2
    drain = "loops: {drain: {trigger: db.drift > 3, timescale: {period: 5 s}, actuation: {evict: db}}}\n"
    caps = {name: own.most for name, own in senders.items()} | {"db": slots}
    text = workload_text(senders) + things + calls_text(senders, pools) + limits_text(caps)
    return text + (drain if evicts else ""), senders, pools, evicts


@pytest.mark.slow
def test_no_run_takes_more_members_for_a_priority_than_is_proved() -> None:
    rng, verdicts = random.Random(251), Counter[Verdict]()  # noqa: S311
    for _ in range(DRAWS):
        text, senders, pools, evicts = inverted_design(rng)
        for finding in answer(priority_inversion, text):
            verdicts[finding.verdict] += 1
            proof = re.fullmatch(r"(.*) holds? at most (\d+) of (\d+) members of (\w+)", finding.message)
            if finding.verdict is Verdict.PROVED:
                assert proof is not None
                names, most, few, pool = proof.groups()
                assert not evicts or pool == "api", text
                for _ in range(RUNS):
                    run = PoolRun(pools, senders).run(burst(rng, senders))
                    spans = holds_of(run, pool, set(names.split(" and ")))
                    assert at_once(spans) <= int(most) < int(few), text
                    assert at_once(spans) < at_work(pools[pool]), text
    assert min(verdicts[verdict] for verdict in (Verdict.PROVED, Verdict.CONFLICT, Verdict.UNDECIDED)) > 5, verdicts


def queued_design(rng: random.Random) -> tuple[str, dict[str, Sender], dict[str, Pool]]:
    """Returns two queues in turn, one after the other, whose limits, members and senders are drawn."""
    deadline = rng.choice((400, 900, 2000))
    pools = {
        name: Pool(rng.randint(1, 3), rng.choice((5, 10, 50)), room=rng.choice((0, 3, 10, 30)))
        for name in ("one", "two")
    }
    senders = {"users": Sender(("one", "two"), deadline=deadline, cancels=True, most=None)}
    senders |= {"mail": Sender((rng.choice(("one", "two")),))} if rng.random() < 0.5 else {}
    things = [
        f"{name}: {{copies: {own.members}, rate_per_copy: {1000 // own.serve} req/s}}" for name, own in pools.items()
    ]
    limits = "".join(
        f"  w{name}: {{counts: {name}.waiting, at_most: {own.room} req, when_full: reject}}\n"
        for name, own in pools.items()
    )
    calls = [
        f"{{from: {name}, to: {pool}, stage: s{n}, on_timeout: cancel}}"
        for name, own in senders.items() for n, pool in enumerate(own.pools)
    ]  # fmt: skip
    text = f"{workload_text(senders)}components: {{{', '.join(things)}}}\ncalls: [{', '.join(calls)}]\n"
    return text + limits_text({}, limits), senders, pools


@pytest.mark.slow
def test_no_run_takes_longer_than_is_proved_and_every_repair_is_a_proof() -> None:
    rng, verdicts = random.Random(252), Counter[Verdict]()  # noqa: S311
    for _ in range(DRAWS):
        text, senders, pools = queued_design(rng)
        for finding in answer(queue_inflation, text):
            verdicts[finding.verdict] += 1
            if finding.verdict is Verdict.PROVED:
                most = finding.evidence.numbers["together"][0] * 1000
                for _ in range(RUNS):
                    arrivals = burst(rng, senders, number=150, within=rng.choice((50, 1000)))
                    run = PoolRun(pools, senders).run(arrivals)
                    assert max((took for name, took in run.took if name == "users"), default=0) <= most, text
            for repair in finding.repairs:
                repaired = text
                for edit in sorted(repair.edits, key=lambda own: own.place.line, reverse=True):
                    lines = repaired.splitlines(keepends=True)
                    line = lines[edit.place.line - 1]
                    lines[edit.place.line - 1] = line.replace(f"at_most: {edit.old}", f"at_most: {edit.new}")
                    repaired = "".join(lines)
                assert [own.verdict for own in answer(queue_inflation, repaired)] == [Verdict.PROVED], repaired
    assert min(verdicts[verdict] for verdict in (Verdict.PROVED, Verdict.CONFLICT)) > 20, verdicts
