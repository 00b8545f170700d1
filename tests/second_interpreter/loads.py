# ruff: noqa: E501
"""Draws designs of rates, members and quotas, with their truth: every value of a grid over the ranges, one by one.

The lines of designs are long, as in YAML.  Each family returns what `drawn` says.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from random import Random

from tests.second_interpreter.drawn import Drawn

Span = tuple[Fraction, Fraction]


def span(random: Random, low: int, high: int, wide: tuple[int, ...] = (0, 0, 1, 3)) -> Span:
    """Draws a range of whole numbers, often of one value."""
    first = Fraction(random.randint(low, high))
    return first, first + random.choice(wide)


def stated(ends: Span, unit: str = "") -> str:
    """Renders a range as designs state it."""
    low, high = (f"{float(end):g}{unit}" for end in ends)
    return low if low == high else f"{low} .. {high}"


def whole(ends: Span) -> range:
    """Returns the whole numbers of a range."""
    return range(math.ceil(ends[0]), math.floor(ends[1]) + 1)


def overloaded(random: Random) -> Drawn:
    """First tries of one or two workloads, with bursts that come again, against the members of what they call."""
    names = ["users", "jobs"][: random.choice([1, 1, 2])]
    rates = [span(random, 1, 40, (0, 0, 2, 10)) for _ in names]
    copies, each = span(random, 1, 6), random.choice([4, 5, 8, 10, 20])
    bursts = [
        (random.choice([1, int(r[1])]) + random.randint(0, 40), random.randint(1, 9)) if random.random() < 0.3 else None
        for r in rates
    ]

    def mean(rate: Fraction, burst: tuple[int, int] | None) -> Fraction:
        return rate if burst is None else (rate * (10 - burst[1]) + burst[0] * burst[1]) / 10

    lasting = [[mean(rate, burst) for rate in ends] for ends, burst in zip(rates, bursts, strict=True)]
    cases = [sum(some) >= members * each for some in itertools.product(*lasting) for members in whole(copies)]
    lines = [
        f"  {name}: {{rate: {stated(rate, ' req/s')}"
        + (f", burst: {{rate: {burst[0]} req/s, lasts: {burst[1]} s, every: 10 s}}" if burst else "")
        + "}"
        for name, rate, burst in zip(names, rates, bursts, strict=True)
    ]
    calls = "".join(f"\n  - {{from: {name}, to: web}}" for name in names)
    text = "coherence: 1\nworkload:\n" + "\n".join(lines)
    text += f"\ncomponents: {{web: {{copies: {stated(copies)}, rate_per_replica: {each} req/s}}}}\ncalls:{calls}\n"
    return Drawn(text, ("COH245",), any(cases), all(cases))


def quota_of_tries(random: Random) -> Drawn:
    """First tries and what refusals make of them, through one or two layers, against a quota in a window."""
    rate, window = span(random, 1, 30, (0, 0, 5)), random.choice([10, 60])
    tries = [random.randint(1, 4) for _ in range(random.choice([1, 1, 2]))]
    sends: int = math.prod(tries)
    quota = max(1, int(rate[1] * window * random.choice([1, 1, sends, sends])) + random.choice([-1, 0, 1, 7]))
    causes = [random.choice(["rate_limited", "rate_limited", "unavailable"]) for _ in tries]
    layers = list(zip(tries, causes, strict=True))
    again: int = max(math.prod(n for n, own in layers if own == cause) for cause in causes)
    names = ["users", *("gateway", "api")[-len(tries) :]]
    calls = [
        f"  - {{from: {a}, to: {b}, tries: {n}, pause: 100 ms, retry_when: [{cause}], fails: {{{cause}: 10 ms}}}}"
        for a, b, n, cause in zip(names, names[1:], tries, causes, strict=False)
    ]
    always, ever = (end * window > quota for end in rate)
    stormy = rate[1] * window * max(again, *tries) > quota
    text = f"""coherence: 1
workload: {{users: {{rate: {stated(rate, " req/s")}}}}}
limits: {{quota: {{counts: attempts(api), at_most: {quota}, window: {window} s, when_full: reject}}}}
calls:
""" + "\n".join(calls)
    breaks = True if ever and again > 1 else None if stormy or ever else False
    return Drawn(text, ("COH247",), breaks, always and again > 1)


def removed_members(random: Random) -> Drawn:
    """Members that a probe takes out when they are overloaded: do so many go that the rest follow?"""
    copies, each = span(random, 1, 6, (0, 0, 1)), random.choice([10, 20, 60])
    load = span(random, 1, 6 * each // 2, (0, 0, each // 2))
    failing = span(random, 1, 3, (0, 0, 1))  # one may always fail: that is what the probe is for
    floor = random.choice([None, None, random.randint(1, 5)])

    def cascades(members: int, out: int, rate: Fraction) -> bool:
        left = members
        while True:  # whoever fails is taken out while the floor allows it, then whoever is overloaded
            overloaded = rate >= left * each
            if not overloaded and members - left >= out:
                return False
            if floor is not None and left - 1 < floor:
                return False
            if members - left >= out:  # the load takes this one out
                return True
            left -= 1
            if left == 0:
                return True

    cases = [cascades(n, k, r) for n in whole(copies) for k in whole(failing) for r in load]
    overloaded = [rate >= n * each for n in whole(copies) for rate in load]
    limits = f"limits: {{panic: {{counts: pods.ready, at_least: {floor}}}}}\n" if floor is not None else ""
    text = f"""coherence: 1
workload: {{requests: {{rate: {stated(load, " req/s")}}}}}
components: {{pods: {{copies: {stated(copies)}, load: requests.rate, rate_per_replica: {each} req/s, failing: {stated(failing)}}}}}
{limits}timers: {{readiness: {{from: pods overloaded, every: 5 s, misses: 3, then: unlist pods}}}}
"""
    return Drawn(text, ("COH240",), None if any(overloaded) or floor is not None else any(cases), speaks=False)


def rollout_of_copies(random: Random) -> Drawn:
    """An update that takes one away or starts one more: every number of copies, with the rounding of each cap.

    Where both caps come to none one may be taken away; where both are written as none Kubernetes refuses them.
    """
    copies, others = span(random, 1, 4, (0, 1, 4)), random.randint(0, 3)
    needs, slack = random.randint(1, 2), random.choice([0, 0, 1, 2, 4])
    caps = [(random.choice([0, 1, 10, 25, 26, 34, 50]), random.choice(["up", "down"])) for _ in "ab"]
    pool = int(copies[1]) * needs + others + slack

    def cap(percent: int, way: str, members: int) -> int:
        return (math.ceil if way == "up" else math.floor)(Fraction(percent * members, 100))

    def stuck(members: int) -> bool:
        extra, down = (cap(*both, members) for both in caps)
        room = pool - members * needs - others >= needs
        taken_for_one = extra == 0 and down == 0 and any(percent for percent, _ in caps)
        return not ((extra >= 1 and room) or down >= 1 or taken_for_one)

    cases = [stuck(members) for members in whole(copies)]
    batch = f"batch: {{copies: {others}, needs: {{gpu: 1}}}}, " if others else ""
    text = f"""coherence: 1
components: {{model: {{copies: {stated(copies)}, needs: {{gpu: {needs}}}}}, {batch}pool: {{gpu: {pool}}}}}
limits:
  surge: {{counts: model.extra, at_most: {caps[0][0]} % of model.copies round {caps[0][1]}}}
  gone: {{counts: model.down, at_most: {caps[1][0]} % of model.copies round {caps[1][1]}}}
"""
    return Drawn(text, ("COH212",), any(cases), all(cases))


def samples_in_window(random: Random) -> Drawn:
    """A window that needs two samples (or one not too old): every offset of its end against a scrape."""
    scrape, kind = span(random, 1, 30, (0, 0, 5)), random.choice(["rate", "irate", "last"])
    window = max(1, int(scrape[1]) * random.choice([1, 2]) + random.choice([-2, -1, 0, 1, 5]))

    def short(every: Fraction, offset: Fraction) -> bool:
        """The newest sample is `offset` old."""
        return offset + every >= window if kind != "last" else offset > window

    cases = [
        [any(short(every, (begin + 15 * k) % every) for k in range(60)) for begin in _halves(every)] for every in scrape
    ]
    text = f"""coherence: 1
loops:
  hpa:
    uses: kubernetes_hpa
    target: {{signal: web.qps, setpoint: 100 req/s, sensor: [scrape {stated(scrape, " s")}, {kind} {window} s]}}
    actuation: {{signal: web.desired, bounds: [1, 10]}}
"""
    margin = window == scrape[1] * (1 if kind == "last" else 2) or scrape[0] != scrape[1]
    breaks = any(any(case) for case in cases)
    return Drawn(text, ("COH222",), None if margin and not breaks else breaks, all(all(case) for case in cases))


def _halves(ends: Fraction) -> list[Fraction]:
    return [Fraction(k, 2) for k in range(math.ceil(2 * ends))]


LOADS = (overloaded, quota_of_tries, removed_members, rollout_of_copies, samples_in_window)
