# ruff: noqa: E501
"""Draws designs of calls with limits, retries and drains, with their truth: runs in which everything fails, one by one.

The lines of designs are long, as in YAML.  Each family returns what `drawn` says.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from random import Random

from tests.second_interpreter.call_runs import CallRun, PlainCall, Time
from tests.second_interpreter.drawn import Drawn
from tests.second_interpreter.loads import Span, span, stated

CAUSES = ("timeout", "unavailable")
HALF = Fraction(1, 2)


def tree_of_calls(random: Random, *, least_limit: float = 0.7) -> tuple[PlainCall, ...]:
    """Draws a chain of two or three calls; sometimes two ways lead to its end."""
    shape = random.choice(
        [["ab", "bc"], ["ab", "bc"], ["ab", "bc", "cd"], ["ab", "ac", "bd", "cd"], ["ab", "bc", "bd"]]
    )
    return tuple(_call(random, *ends, limited=random.random() < least_limit) for ends in shape)


def _call(random: Random, caller: str, callee: str, *, limited: bool) -> PlainCall:
    tries = random.choice([1, 1, 2, 2, 3])
    per_try = Fraction(random.randint(1, 8)) if limited and random.random() < 0.8 else None
    deadline = Fraction(random.randint(2, 16)) if random.random() < 0.4 else None
    again = random.choice([None, ("timeout",), ("unavailable",), CAUSES]) if tries > 1 else None
    pause = random.choice([Fraction(0), HALF, Fraction(1)]) if tries > 1 else Fraction(0)
    return PlainCall(caller, callee, tries, deadline, per_try, pause, again, random.random() < 0.5)


def values(ends: Span) -> list[Fraction]:
    """Returns both ends, the middle and a value beside it."""
    low, high = ends
    return sorted({low, high, (low + high) / 2, low + (high - low) / 3})


def most_sends(calls: tuple[PlainCall, ...], fails: Span) -> int:
    """Returns how often the end of the calls is sent to, at the most, where every leaf fails by one cause."""
    end = calls[-1].callee
    quiet = frozenset({call.callee for call in calls} - {call.caller for call in calls} - {end})
    runs = [CallRun(calls, "timeout", {}, answers=answers, quiet=quiet) for answers in (False, True)]
    ways = [("other", Fraction(0)), *(("unavailable", takes) for takes in values(fails))]
    runs += [
        CallRun(calls, cause, {end: takes}, races=races, quiet=quiet)
        for cause, takes in ways
        for races in (False, True)
    ]
    for run in runs:
        run.serve(calls[0].caller, Fraction(0))
    return max(sum(callee == end for _, callee in (*run.sent, *run.alone)) for run in runs)


def sends_in_time(random: Random) -> Drawn:
    """Sends that one call causes, cut by limits, with refusals that take their time."""
    calls, fails = tree_of_calls(random), span(random, 0, 3, (0, 1, 2))
    most = most_sends(calls, fails)
    limit = max(1, most + random.choice([-2, -1, -1, 0, 0, 1]))
    leaf = f"{{unavailable: {stated(fails, ' s')}}}"
    called = {call.caller for call in calls}
    lines = [call.line(fails="" if call.callee in called else leaf) for call in calls]
    text = "\n".join(
        ["coherence: 1", "calls:", *lines, f"promises: {{p: attempts({calls[-1].callee}) per call(a) <= {limit}}}"]
    )
    return Drawn(text, ("COH202",), most > limit)


def work_left_behind(random: Random) -> Drawn:
    """Callees that go on for a caller that has gone: the longest of what they do, with their calls."""
    calls = tree_of_calls(random, least_limit=0.9)
    takes = {name: span(random, 1, 6, (0, 1, 3)) for name in sorted({c.callee for c in calls})}
    leaves = {c.callee for c in calls} - {c.caller for c in calls}
    fails = Fraction(random.choice([0, 1, 2]))
    behind: list[list[tuple[str, str, Time]]] = []
    for cause, end in itertools.product(["", "recovers", "unavailable", "timeout"], (0, 1)):
        work = {name: ends[end] for name, ends in takes.items() if name not in leaves}
        answers = {name: takes[name][end] for name in leaves}
        leaf = answers if not cause else {} if cause == "timeout" else dict.fromkeys(leaves, fails)
        last = answers if cause == "recovers" else {}
        run = CallRun(calls, "unavailable" if last else cause, leaf, work=work, recovers=last)
        run.serve("a", Fraction(0))
        behind.append([entry for entry in run.left if entry[2] > 0])
    slow = any(behind[:4])
    hung = any(behind)
    parts = ", ".join(f"{name}: {{takes: {{serve: {stated(ends, ' s')}}}}}" for name, ends in takes.items())
    leaf_fails = f"{{unavailable: {float(fails):g} s}}"
    lines = [call.line(fails=leaf_fails if call.callee in leaves else "") for call in calls]
    text = "\n".join(["coherence: 1", f"components: {{{parts}}}", "calls:", *lines])
    return Drawn(text, ("COH204",), True if slow else False if not hung else None, speaks=hung)


def drained_server(random: Random) -> Drawn:
    """The tries of a client at the only member, or one of several, against the drain of it: every end of a range."""
    drain, members = span(random, 2, 30, (0, 0, 4)), random.choice([1, 1, 3])
    call = replace(_call(random, "app", "web", limited=True), per_try=Fraction(random.randint(1, 8)))
    fails, delay = span(random, 0, 3, (0, 1)), random.choice([None, None, Fraction(random.randint(1, 5))])
    ends = []
    for cause, takes in [("timeout", Fraction(0)), *(("unavailable", end) for end in fails)]:
        run = CallRun(
            (call,) if members == 1 else (replace(call, tries=1),), cause, {"web": takes} if cause != "timeout" else {}
        )
        ends.append(run.called(run.calls[0], Fraction(0))[0])
        hangs = run.sent[-1][0] + (call.per_try or Fraction(0))  # the last try, which need not fail as those before it
        ends.append(hangs if call.deadline is None else min(hangs, call.deadline))
    latest = max(ends) + (delay or 0)
    breaks = latest > drain[0]
    unlist = (
        ""
        if delay is None
        else f"timers: {{unlist: {{from: web drains, after: {float(delay):g} s, then: unlist web}}}}\n"
    )
    line = call.line(fails=f"{{unavailable: {stated(fails, ' s')}}}")
    text = f"coherence: 1\ncomponents: {{web: {{copies: {members}, drain: {stated(drain, ' s')}}}}}\n{unlist}calls:\n{line}\n"
    silent = members > 1 and call.tries > 1
    return Drawn(text, ("COH203",), None if latest == drain[0] or silent else breaks)


def last_try_after_cooldown(random: Random) -> Drawn:
    """The start of the last try against a cool-down that runs from the first failure: corners of pauses and failures."""
    tries, full = random.randint(2, 4), random.random() < 0.5
    base, cap = random.randint(1, 8), random.randint(4, 20)
    cooldown, fails = span(random, 3, 40, (0, 2)), span(random, 0, 4, (0, 1))
    deadline = random.choice([None, None, random.randint(5, 60)])
    pauses = [Fraction(min(cap, base * 2**k)) for k in range(tries - 1)]
    options = [(Fraction(0), pause / 2, pause) if full else (pause,) for pause in pauses]
    cases = []
    for waits in itertools.product(*options):
        for first, later in itertools.product(values(fails), repeat=2):
            start = first + sum(waits) + later * (tries - 2)
            late = deadline is not None and start >= deadline
            cases += [late or start <= first + end for end in cooldown]
    jitter = ", jitter: full" if full else ""
    limit = f"deadline: {deadline} s, " if deadline is not None else ""
    text = f"""coherence: 1
timers: {{cooldown: {{from: full, after: {stated(cooldown, " s")}, then: list web}}}}
calls:
  - {{from: app, to: web, {limit}tries: {tries}, pause: {{base: {base} s, cap: {cap} s{jitter}}}, retry_when: [full], fails: {{full: {stated(fails, " s")}}}}}
promises: {{useful: cooldown before last try}}
"""
    return Drawn(text, ("COH210",), any(cases), all(cases))


SENDS = (sends_in_time, work_left_behind, drained_server, last_try_after_cooldown)
