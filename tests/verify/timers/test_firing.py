"""Timers: windows against a simulated ticker, verdicts against simulated starts, and how verdicts move."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.solver import unsat
from coherence.checking.design_check import analyse
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.timers import gate, start_budget, timer_against_activity, timer_order
from coherence.verify.timers import firing
from coherence.verify.timers.firing import FiringWindow

F = Fraction
GRID = F(1, 4)
QUICK = settings(max_examples=100, deadline=None)


def ask(text: str, module: object = None) -> list[Finding]:
    """The answers of the four timer questions (or one of them) about a design text."""
    text = f"coherence: 1\n{text}\n"
    subject = Subject(read_text(text, "t.yaml"), {"t.yaml": text})
    modules = [module] if module else [start_budget, timer_against_activity, timer_order, gate]
    return [finding for one in modules for finding in one.ask(subject)]  # type: ignore[attr-defined]


def verdicts(text: str) -> list[str]:
    return [f"{f.code} {f.verdict}{f' {f.certainty}' if f.certainty else ''}" for f in ask(text)]


def timer_of(text: str) -> firing.Firing | None:
    design = read_text(f"coherence: 1\ntimers: {{t: {{from: it starts, {text}}}}}\n", "t.yaml")
    return firing.firing(design.timers["t"])


# examples


@pytest.mark.parametrize(
    ("text", "earliest", "latest"),
    [
        ("first: 120 s, every: 10 s, misses: 3, reply_within: 1 s", 140, 151),
        ("every: 10 s, misses: 60, reply_within: 1 s", 590, 601),
        ("every: 10 s", 0, 10),
        ("after: 30 s", 30, 30),
        ("after: 20 s .. 25 s, jitter: 2 s", 18, 27),
        ("after: 1 s, jitter: 5 s", 0, 6),
        ("first: 7 s", 7, 7),
        ("first: 10 s .. 20 s, every: 5 s, misses: 2 .. 3, reply_within: 1 s", 15, 36),
        ("every: 1 s, misses: 3, reply_within: 5 s", 2, 16),
    ],
)
def test_when_a_timer_fires(text: str, earliest: int, latest: int) -> None:
    fires = timer_of(text)
    assert fires is not None
    assert fires.window == FiringWindow(F(earliest), F(latest))


@pytest.mark.parametrize("text", ["after: unlimited", "every: 10 s, misses: unlimited"])
def test_a_timer_that_is_off_never_fires(text: str) -> None:
    assert timer_of(text) is None


def test_the_defaults_of_a_probe_are_named() -> None:
    fires = timer_of("every: 10 s")
    assert fires is not None
    assert fires.defaults == (
        "first of t is not set: 0 s",
        "misses of t is not set: 1",
        "reply_within of t is not set: 0 s",
    )


def test_probes_that_wait_longer_than_a_period_are_said() -> None:
    fires = timer_of("first: 0 s, every: 1 s, misses: 3, reply_within: 5 s")
    assert fires is not None
    assert fires.defaults == ("probes of t that wait longer than 1 s follow each other at once (one tick is kept)",)


@pytest.mark.parametrize(
    ("held", "lease", "most", "handed"),
    [(300, 30, None, 10), (301, 30, None, 11), (29, 30, None, 1), (300, 30, 4, 4), (0, 30, None, 1)],
)
def test_how_often_a_message_is_handed_out(held: int, lease: int, most: int | None, handed: int) -> None:
    assert firing.copies(F(held), F(lease), most) == handed


# a ticker, simulated


def kills(first: Fraction, every: Fraction, misses: int, replies: Sequence[Fraction], phase: Fraction) -> Fraction:
    """When a prober with a ticker that keeps one tick has seen `misses` failures; reply k is the k-th waiting time."""
    tick, free, failed = phase, F(0), 0
    while True:
        now = max(tick, free)
        tick += every
        while tick < now:  # one tick was kept while the prober waited, and the others are lost
            tick += every
        if now < first:
            continue
        free = now + replies[failed]
        failed += 1
        if failed == misses:
            return free


def phases(every: Fraction) -> Iterator[Fraction]:
    return (GRID * k for k in range(int(every / GRID)))


probes = st.tuples(st.integers(0, 12), st.integers(1, 5), st.integers(1, 4), st.integers(0, 9))


@QUICK
@given(probes, st.data())
def test_a_ticker_kills_inside_the_window(probe: tuple[int, int, int, int], data: st.DataObject) -> None:
    first, every, misses, reply = (F(probe[0]), F(probe[1]), probe[2], F(probe[3]))
    replies = [data.draw(st.sampled_from([F(0), reply / 2, reply])) for _ in range(misses)]
    for phase in phases(every):
        at = kills(first, every, misses, replies, phase)
        assert (
            firing.earliest_kill(first, every, misses)
            <= at
            < firing.latest_kill(first, every, misses, reply, max(every, reply))
        )


@QUICK
@given(probes)
def test_a_ticker_reaches_both_ends_of_the_window_within_the_grid(probe: tuple[int, int, int, int]) -> None:
    first, every, misses, reply = (F(probe[0]), F(probe[1]), probe[2], F(probe[3]))
    refused = [kills(first, every, misses, [F(0)] * misses, phase) for phase in phases(every)]
    silent = [kills(first, every, misses, [reply] * misses, phase) for phase in phases(every)]
    assert min(refused) == firing.earliest_kill(first, every, misses)
    assert max(silent) == firing.latest_kill(first, every, misses, reply, max(every, reply)) - GRID


def test_an_initial_delay_is_counted_from_the_start_and_not_from_the_ticker() -> None:
    assert {kills(F(12), F(5), 1, [F(0)], phase) for phase in phases(F(5))} == {F(12) + GRID * k for k in range(20)}


@QUICK
@given(probes, st.tuples(st.integers(0, 60), st.integers(0, 20)))
def test_verdicts_about_a_start_agree_with_simulated_starts(
    shape: tuple[int, int, int, int], load: tuple[int, int]
) -> None:
    """Proved: no start is killed.  Certain: every start is killed.  Possible: some are, or the two tie."""
    first, every, misses, reply = shape
    low, high = load[0], load[0] + load[1]
    (found,) = ask(probe([*shape, *load]), start_budget)
    runs = [
        (kills(F(first), F(every), misses, [wait] * misses, phase), F(loads))
        for phase in phases(F(every))
        for wait in (F(0), F(reply))
        for loads in (low, high)
    ]
    killed, tied = [at < end for at, end in runs], any(at == end for at, end in runs)
    if found.verdict is Verdict.PROVED:
        assert not any(killed)
        assert not tied
    elif found.certainty == "certain":
        assert all(killed)
    else:
        assert found.certainty == "possible"
        assert any(killed) or tied
        assert not all(at < end - GRID for at, end in runs)


@QUICK
@given(st.integers(1, 40), st.integers(1, 400))
def test_copies_count_the_expiries_before_the_end(lease: int, held: int) -> None:
    expired = sum(1 for k in itertools.takewhile(lambda k: k * lease < held, itertools.count(1)))
    assert firing.copies(F(held), F(lease)) == 1 + expired


@QUICK
@given(st.lists(st.integers(1, 30), min_size=2, max_size=2), st.integers(0, 50))
def test_the_longest_wait_at_a_barrier_is_that_of_the_extreme_members(step: list[int], pause: int) -> None:
    low, high = sorted(step)
    ends = [s + p for s in range(low, high + 1) for p in (0, pause)]
    waits = [max(one, other) - min(one, other) for one, other in itertools.product(ends, repeat=2)]
    assert firing.longest_wait(FiringWindow(F(low), F(high)), FiringWindow(F(0), F(pause))) == max(waits)


# how verdicts move


def probe(n: Sequence[int], unit: int = 1) -> str:
    first, every, misses, reply, low, more = n
    return (
        f"components: {{server: {{takes: {{load: {unit * low} s .. {unit * (low + more)} s}}}}}}\n"
        f"timers: {{live: {{from: server starts, first: {unit * first} s, every: {unit * every} s, misses: {misses}, "
        f"reply_within: {unit * reply} s, unless: server.load ends, then: restart server}}}}"
    )


def lease(n: Sequence[int], unit: int = 1) -> str:
    after, jitter, low, more = n
    return (
        f"components: {{worker: {{takes: {{task: {unit * low} s .. {unit * (low + more)} s}}}}}}\n"
        f"timers: {{lease: {{from: worker.task starts, after: {unit * after} s, jitter: {unit * jitter} s, "
        "unless: worker.task ends, then: redeliver}}"
    )


def dump(n: Sequence[int], unit: int = 1) -> str:
    beat, low, more, abort = n
    return (
        f"components: {{rank: {{takes: {{dump: {unit * low} s .. {unit * (low + more)} s}}}}}}\n"
        f"timers: {{beat: {{from: it hangs, after: {unit * beat} s, then: rank.dump starts}}, "
        f"abort: {{from: it hangs, after: {unit * abort} s, then: abort job}}}}\n"
        "promises: {evidence: rank.dump ends before abort}"
    )


def barrier(n: Sequence[int], unit: int = 1) -> str:
    low, more, pause, after = n
    return (
        f"components: {{rank: {{copies: 8, takes: {{step: {unit * low} s .. {unit * (low + more)} s, "
        f"pause: 0 s .. {unit * pause} s}}}}}}\n"
        "loops: {shed: {per: rank, trigger: rank.temp > 85 C, actuation: {signal: rank.pause, law: set, to: 1}}}\n"
        f"timers: {{dog: {{from: first rank waits, after: {unit * after} s, unless: all of rank.step end, "
        "then: restart rank}}"
    )


DESIGNS: list[tuple[Callable[..., str], int]] = [(probe, 6), (lease, 4), (dump, 4), (barrier, 4)]


def numbers(count: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(1, 40), min_size=count, max_size=count)


designs = st.sampled_from(DESIGNS).flatmap(lambda d: st.tuples(st.just(d[0]), numbers(d[1])))


@pytest.mark.slow
@QUICK
@given(designs, st.integers(2, 90))
def test_scaling_all_times_keeps_the_verdict(design: tuple[Callable[..., str], list[int]], unit: int) -> None:
    make, values = design
    assert verdicts(make(values, unit)) == verdicts(make(values))


RANK = ["proved", "conflict possible", "conflict certain"]


def rank(text: str) -> int:
    (said,) = verdicts(text)
    return RANK.index(said.partition(" ")[2])


@pytest.mark.slow
@QUICK
@given(st.sampled_from([(lease, 4, 0), (dump, 4, 3), (barrier, 4, 3), (probe, 6, 0), (probe, 6, 2)]), st.data())
def test_a_later_timer_is_never_worse(design: tuple[Callable[..., str], int, int], data: st.DataObject) -> None:
    make, count, raised = design
    values = data.draw(numbers(count))
    later = [value + data.draw(st.integers(1, 30)) if i == raised else value for i, value in enumerate(values)]
    assert rank(make(later)) <= rank(make(values))


@pytest.mark.slow
@QUICK
@given(designs)
def test_every_proof_has_a_certificate_and_every_conflict_a_run_with_two_places(
    design: tuple[Callable[..., str], list[int]],
) -> None:
    make, values = design
    for found in ask(make(values)):
        if found.verdict is Verdict.PROVED:
            assert found.evidence.certificate is not None
            assert unsat(found.evidence.certificate, timeout_ms=5000).unsat
        else:
            assert found.verdict is Verdict.CONFLICT
            assert len(set(found.places)) >= 2
            times = [step.time for step in found.evidence.witness if step.time is not None]
            assert times == sorted(times)
            assert len(times) >= 3


@pytest.mark.slow
@QUICK
@given(designs)
def test_a_certificate_of_the_opposite_claim_does_not_hold(design: tuple[Callable[..., str], list[int]]) -> None:
    """The scripts say something: with the two sides of the claim exchanged they are satisfiable."""
    make, values = design
    for found in ask(make(values)):
        if found.evidence.certificate is not None:
            turned = found.evidence.certificate.replace("(assert (not (< ", "(assert (not (> ").replace(
                "(not (<= ", "(not (> "
            )
            assert not unsat(turned, timeout_ms=5000).unsat


@pytest.mark.slow
@QUICK
@given(designs, st.sampled_from(["zeta", "a1", "the_other"]))
def test_renaming_a_timer_keeps_the_verdict(design: tuple[Callable[..., str], list[int]], name: str) -> None:
    make, values = design
    renamed = make(values)
    for old in ("live:", "lease:", "abort:", "dog:"):
        renamed = renamed.replace(old, f"{name}:")
    renamed = renamed.replace("before abort", f"before {name}")
    assert verdicts(renamed) == verdicts(make(values))


# incidents


SERVER = "components: {server: {takes: {load: 3 min .. 10 min}}}\n"
LIVENESS = (
    "timers: {{live: {{from: server starts, first: {} s, every: 10 s, misses: 3, reply_within: 1 s, "
    "unless: server.load ends, then: restart server}}}}"
)
IDLE = (
    "timers: {{keepalive: {{from: connection idle, after: {} s, then: close connection}}, "
    "lb_idle: {{from: connection idle, after: {} s, then: drop connection}}}}\n"
    "promises: {{reuse: lb_idle before keepalive}}"
)
PING = (
    "timers: {{ping: {{from: last ping, after: {} s, jitter: 100 ms, then: send ping}}, "
    "guard: {{from: last ping seen, after: 20 s, then: accept ping}}}}\npromises: {{polite: guard before ping}}"
)
NCCL = (
    "components: {{rank: {{takes: {{dump: 120 s}}}}}}\n"
    "timers: {{heartbeat: {{from: step hangs, after: {} s, then: rank.dump starts}}, "
    "nccl: {{from: step hangs, after: 600 s, then: abort job}}}}\npromises: {{evidence: rank.dump ends before nccl}}"
)
PROBES = (
    "timers: {{readiness: {{from: server slow, every: {} s, misses: {}, then: unlist server}}, "
    "liveness: {{from: server slow, every: {} s, misses: {}, then: restart server}}}}\n"
    "promises: {{gentle: readiness before liveness}}"
)


DRAINS = """components: {pod: {takes: {drain: 130 s .. 300 s}}}
timers: {t: {from: pod.drain starts, after: 120 s, unless: pod.drain ends, then: kill node}}"""


def waits(thing: str, takes: str, after: str, then: str) -> str:
    """One activity and the timer that it should end in time."""
    activity = takes.partition(":")[0]
    return (
        f"components: {{{thing}: {{takes: {{{takes}}}}}}}\n"
        f"timers: {{t: {{from: {thing} starts, after: {after}, unless: {thing}.{activity} ends, then: {then}}}}}"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SERVER + LIVENESS.format(120), "COH206 conflict certain"),  # PS-01
        (SERVER + LIVENESS.format(300), "COH206 conflict possible"),
        (SERVER.replace("3 min .. 10 min", "600 s") + LIVENESS.format(300), "COH206 conflict certain"),  # PS-03
        (SERVER + LIVENESS.format(640), "COH206 proved"),
        (waits("pod", "init: 180 s", "120 s", "remove pod"), "COH207 conflict certain"),  # PS-05
        (waits("pod", "init: 180 s", "200 s", "remove pod"), "COH207 proved"),
        (waits("revision", "load: 5 min .. 15 min", "600 s", "fail revision"), "COH207 conflict possible"),  # PS-06
        (waits("node", "ready: 3 min .. 8 min", "120 s", "remove node"), "COH207 conflict certain"),  # PS-07
        (waits("node", "ready: 3 min .. 8 min", "600 s", "remove node"), "COH207 proved"),
        (waits("leader", "tokenise: 35 min .. 60 min", "1800 s", "abort job"), "COH207 conflict certain"),  # TS-01
        (waits("leader", "save: 2 min .. 15 min", "600 s", "abort job"), "COH207 conflict possible"),  # TS-03
        (NCCL.format(600), "COH208 conflict certain"),  # TS-05
        (NCCL.format(480), "COH208 proved"),  # OK-06
        (IDLE.format(2, 60), "COH208 conflict certain"),  # TR-17
        (IDLE.format(90, 60), "COH208 proved"),
        (PING.format(20), "COH208 conflict possible"),  # TR-19
        (PING.format(30), "COH208 proved"),
        (waits("worker", "task: 30 s .. 300 s", "30 s", "redeliver"), "COH207 conflict possible"),  # TR-21
        (waits("worker", "task: 30 s .. 60 s", "300 s", "redeliver"), "COH207 proved"),
        (waits("job", "write: 60 s .. 300 s", "120 s", "kill job"), "COH207 conflict possible"),  # PB-09
        (waits("pod", "drain: 130 s .. 300 s", "120 s", "kill node"), "COH207 conflict possible"),  # it drains later
        (DRAINS, "COH207 conflict certain"),  # DD-05
        (PROBES.format(10, 3, 10, 3), "COH208 conflict possible"),  # LB-07
        (PROBES.format(1, 2, 10, 10), "COH208 proved"),  # OK-08
    ],
)
def test_incidents_with_numbers(text: str, said: str) -> None:
    assert verdicts(text) == [said]


def test_a_stated_worst_case_at_its_limit_is_proved_with_a_warning() -> None:
    (found,) = ask(NCCL.format(480))
    assert (found.verdict, str(found.severity)) == (Verdict.PROVED, "warning")


def test_how_many_copies_a_short_lease_gives() -> None:
    (found,) = ask(waits("worker", "task: 30 s .. 300 s", "30 s", "redeliver"))
    assert found.evidence.numbers["copies at most"] == (10, "")


def test_a_receive_limit_caps_the_copies() -> None:
    text = waits("worker", "task: 30 s .. 300 s", "30 s", "redeliver").replace("}}}\n", "}, max_receive: 3}}\n", 1)
    (found,) = ask(text)
    assert found.evidence.numbers["copies at most"] == (3, "")


@pytest.mark.parametrize(
    ("task", "more", "words"),
    [
        ("60 s .. 300 s", "", "every try ends so, and it is begun again and again, without end"),
        ("60 s .. 300 s", ", max_receive: 3", "every try ends so, and it is begun 3 times in all"),
        ("10 s .. 300 s", "", "a try that ends so is begun again"),
    ],
)
def test_work_that_is_taken_from_its_holder_is_begun_again(task: str, more: str, words: str) -> None:
    text = waits("worker", f"task: {task}", "30 s", "requeue job").replace("}}}\n", "}" + more + "}}\n", 1)
    (found,) = ask(text)
    assert found.message.endswith(words)
    assert "handed out" not in found.message


def missing(text: str) -> Iterable[str]:
    return [f.message for f in ask(text) if f.verdict is Verdict.UNDECIDED]


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        (
            "timers: {t: {from: worker.task starts, after: 300 s, unless: worker.task ends, then: redeliver}}",
            "task time of worker",
        ),
        (
            (
                "components: {worker: {takes: {task: 6 s}}}\n"
                "timers: {t: {from: worker.task starts, unless: worker.task ends, then: redeliver}}"
            ),
            "after of t",
        ),
        (
            "timers: {t: {from: order placed, after: 3 s, unless: order shipped, then: refund}}",
            "the time from 'order placed' to 'order shipped'",
        ),
        (
            (
                "components: {pod: {takes: {stop: 6 s}}}\n"
                "timers: {t: {from: notice, after: 9 s, unless: pod.stop ends, then: kill}}"
            ),
            "what starts pod.stop",
        ),
    ],
)
def test_what_is_missing_is_asked_for_by_name(text: str, needs: str) -> None:
    (said,) = missing(text)
    assert said.startswith(f"needs {needs}")


REPAIRED = [
    SERVER + LIVENESS.format(120),
    waits("pod", "init: 180 s", "120 s", "remove pod"),
    NCCL.format(600),
    PING.format(20),
    PROBES.format(10, 3, 10, 3),
    barrier([1, 1, 2400, 1800]),
    (
        "components: {node: {takes: {cut: 30 s .. 90 s}}, pod: {takes: {start: 5 s}}}\n"
        "promises: {gate: node.cut ends before pod.start ends}"
    ),
    (
        "components: {worker: {takes: {task: 30 s .. 300 s}}}\n"
        "timers: {t: {from: worker.task starts, after: 30 s, renew: 40 s, unless: worker.task ends, then: redeliver}}"
    ),
]


@pytest.mark.parametrize("text", REPAIRED)
def test_a_conflict_comes_with_repairs_that_are_proved(text: str) -> None:
    whole = f"coherence: 1\n{text}\n"
    codes = ("COH206", "COH207", "COH208", "COH219")
    answers = analyse(
        read_text(whole, "t.yaml"), {"t.yaml": whole}, lambda s: read_text(s["t.yaml"], "t.yaml"), select=codes
    )
    (found,) = (f for f in answers.findings if f.verdict is Verdict.CONFLICT)
    assert found.repairs
    assert {repair.verified for repair in found.repairs} == {"re-checked: proved"}


@given(st.integers(1, 40), st.integers(1, 60), st.integers(0, 59), st.integers(0, 5))
def test_renewals_further_apart_than_a_timer_waits_never_keep_it(
    wait: int, every: int, phase: int, jitter: int
) -> None:
    text = f"""coherence: 1
timers:
  beat: {{from: node idle, every: {every} s, jitter: {jitter} s, then: ping node}}
  lease: {{from: node idle, after: {wait} s, renew: beat, then: drop node}}
"""
    timers = read_text(text).timers
    fires = firing.despite_renewals(timers["lease"], timers["beat"])
    if fires is None:
        assert every - 2 * jitter <= wait
        return
    draw = random.Random(wait * 997 + phase)  # noqa: S311
    due, beat = float(wait), phase % every - jitter + 2 * jitter * draw.random()
    looks = 0
    while beat < due:
        due = beat + wait if beat > 0 else due
        looks += 1
        beat = phase % every + looks * every - jitter + 2 * jitter * draw.random()
    assert fires.window.latest is not None
    assert fires.window.earliest <= due <= fires.window.latest
