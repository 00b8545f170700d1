# ruff: noqa: E501
"""Draws what stands around things, measured values and counts by place, with their truth: every case, one by one.

The lines of designs are long, as in YAML.  Each family returns what `drawn` says.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from random import Random

from tests.second_interpreter.drawn import Drawn
from tests.second_interpreter.loads import span, stated, whole


def claims_behind_boundaries(random: Random) -> Drawn:
    """Commands that may cross a boundary and take effect `gain` times; slices of each device, and a quota."""
    bounds = [(random.randint(0, 2), random.randint(2, 6)) for _ in "ab"]
    gain, count = span(random, 1, 3, (0, 0, 1)), random.randint(4, 16)
    inside = [random.random() < 0.5 for _ in "ab"]
    shared = random.random() < 0.3  # the boundary stands around the tier
    room = random.choice(["", "instances", "quota"])
    number = random.randint(1, 12)
    crossing = [[Fraction(1), *(gain if crosses else ())] for crosses in inside]
    asked = [
        [sum(end * g for end, g in zip(ends, gains, strict=True)) for gains in itertools.product(*crossing)]
        for ends in itertools.product(*bounds)
    ]
    fits = {"": max(map(max, asked)), "instances": number * count, "quota": number}[room]
    cases = [max(sums) > min(count, fits) for sums in asked]
    around = [name for name, crosses in zip("ab", inside, strict=True) if crosses] or ["spare"]
    walls = [f"    wall: {{kind: virtualization, around: [{', '.join(around)}], gain: {stated(gain)}}}"]
    walls += [f"    room: {{kind: environment, around: [gpu], {room}: {number}}}"] if room else []
    walls += ["    outer: {kind: environment, around: [room], note: all}"] if room and shared else []
    loops = "".join(
        f"\n  {name}: {{timescale: {{period: 10 s}}, trigger: q.{name} > 1, actuation: {{signal: {name}.run, law: step, by: 1, bounds: [{low}, {high}]}}}}"
        for name, (low, high) in zip("ab", bounds, strict=True)
    )
    text = f"""coherence: 1
infrastructure:
  tiers: {{gpu: {{count: {count}}}, spare: {{count: 1}}}}
  boundaries:
{chr(10).join(line.replace(", note: all", ", added_delay: 1 s") for line in walls)}
components: {{a: {{runs_on: gpu}}, b: {{runs_on: gpu}}}}
claims: {{gpu: a.run + b.run}}
loops:{loops}
"""
    plain = sum(high for _, high in bounds) > count
    return Drawn(text, ("COH211",), any(cases), False if not plain else None)


def calls_across_boundaries(random: Random) -> Drawn:
    """A call whose callee stands behind a boundary or a link that adds a delay, once at least where it is crossed."""
    serve, delay = span(random, 1, 9, (0, 0, 3)), span(random, 0, 6, (0, 0, 2))
    deadline = random.randint(2, 18)
    shape = random.choice(["boundary", "nested", "link", "tiers", "elsewhere"])
    added = f"added_delay: {stated(delay, ' s')}"
    entries = {
        "boundary": f"boundaries: {{wan: {{kind: environment, around: [llm], {added}}}}}",
        "nested": f"boundaries: {{wan: {{kind: environment, around: [llm]}}, cell: {{kind: environment, around: [wan], {added}}}}}",
        "link": f"links: [{{ends: [gw, llm], latency: {stated(delay, ' s')}}}]",
        "tiers": f"links: [{{ends: [near, far], latency: {stated(delay, ' s')}}}]",
        "elsewhere": f"boundaries: {{wan: {{kind: environment, around: [spare], {added}}}}}",
    }
    text = f"""coherence: 1
infrastructure: {{tiers: {{near: {{count: 1}}, far: {{count: 1}}, spare: {{count: 1}}}}, {entries[shape]}}}
components: {{gw: {{runs_on: near}}, llm: {{runs_on: far, takes: {{serve: {stated(serve, " s")}}}}}}}
calls: [{{from: gw, to: llm, deadline: {deadline} s}}]
"""
    late = serve[1] + (delay[1] if shape != "elsewhere" else 0) > deadline
    return Drawn(text, ("COH201",), True if late else False if shape == "elsewhere" or delay[1] == 0 else None)


def measured_values(random: Random) -> Drawn:
    """A promise about the mean, a quantile or a tail of a value that is constant, varies in a range, or is not known."""
    ends = span(random, 1, 6, (0, 1, 3))
    kind = random.choice(["constant", "varies", "queue"])
    level = random.choice(["0.5", "0.99"])
    word = random.choice(["always ", "never ", "eventually ", ""])
    side = random.choice(["<=", "<", ">=", ">"])
    value = "box.x" if kind != "queue" else "box.latency"
    what, limit = random.choice(
        [(f"quantile({value}, {level})", random.randint(1, 8)), (f"mean({value})", random.randint(1, 8))]
    )
    holds = {"<=": Fraction.__le__, "<": Fraction.__lt__, ">=": Fraction.__ge__, ">": Fraction.__gt__}[side]
    kept = [holds(end, Fraction(limit)) is (word != "never ") for end in ends]
    breaks = None if kind == "queue" or (kind == "varies" and any(kept) and not all(kept)) else not all(kept)
    x = f"{{varies: {stated(ends)}}}" if kind == "varies" and ends[0] < ends[1] else stated(ends)
    text = f"""coherence: 1
workload: {{users: {{rate: {random.randint(1, 9)} req/s}}}}
components: {{box: {{x: {x}, copies: 1, rate_per_replica: 10 req/s}}}}
calls: [{{from: users, to: box}}]
promises: {{p: "{word}{what} {side} {limit}{" s" if kind == "queue" else ""}"}}
"""
    return Drawn(text, ("COH106",), breaks, None, "p")


def counts_by_place(random: Random) -> Drawn:
    """A promise about the most members on one place: every way to lay them, under a rule of spread or none."""
    copies, nodes = span(random, 1, 6, (0, 0, 1)), random.randint(1, 3)
    spread, most = random.choice([None, None, 1, 2]), random.randint(1, 5)
    word = random.choice(["always", "always", "eventually"])
    ways = [
        way
        for number in whole(copies)
        for way in laid(number, nodes)
        if spread is None or max(way) - min(way) <= spread
    ]
    kept = [max(way) <= most for way in ways]
    rule = f"placement: {{web: [spread by node <= {spread}]}}\n" if spread is not None else ""
    text = f"""coherence: 1
components: {{web: {{copies: {stated(copies)}}}}}
places: {{node: {{count: {nodes}}}}}
{rule}promises: {{p: {word} count of web by node <= {most}}}
"""
    return Drawn(
        text, ("COH227",), not all(kept) if word == "always" else None if any(kept) else True, not any(kept), "p"
    )


def jobs_together(random: Random) -> Drawn:
    """A promise that two jobs never run together, or that one comes to run: what has room beside what has."""
    needs, capacity = [random.randint(1, 6) for _ in "ab"], random.randint(1, 9)
    kind = random.choice(["together", "runs", "held"])
    most = random.randint(1, 9)
    promise = {
        "together": "never a.running >= 1 and b.running >= 1",
        "runs": "eventually a.running >= 1",
        "held": f"always gpu.used <= {most}",
    }[kind]
    both, alone = sum(needs) <= capacity, [need for need in needs if need <= capacity]
    held = max([*alone, sum(needs) if both else 0, 0])
    breaks = {"together": both, "runs": needs[0] > capacity, "held": held > most}[kind]
    text = f"""coherence: 1
components: {{gpu: {{count: {capacity}}}}}
jobs: {{a: {{needs: {needs[0]} gpu, priority: 1}}, b: {{needs: {needs[1]} gpu, priority: 2}}}}
order: {{admit: largest job.priority first}}
promises: {{p: {promise}}}
"""
    return Drawn(text, ("COH106",), breaks if breaks or kind != "runs" else None, None, "p")


def laid(members: int, places: int) -> Iterator[tuple[int, ...]]:
    """Yields how many members each place has, in every way."""
    if places == 1:
        yield (members,)
        return
    for first in range(members + 1):
        yield from ((first, *rest) for rest in laid(members - first, places - 1))


SURROUNDINGS = (claims_behind_boundaries, calls_across_boundaries, measured_values, counts_by_place, jobs_together)
