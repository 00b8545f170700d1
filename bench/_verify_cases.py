"""Verdicts on random small designs beside a simulation of every try and second that knows nothing of the engine.

Each kind draws integers, writes the design, and says by plain loops whether some run breaks it.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.harness import Row, on_all_cores, part_of
from coherence.checking.design_check import Options, analysis
from coherence.checking.expectations import compare, expected_files
from coherence.findings.finding import Verdict
from coherence.language.reading import read_text
from tests.case_files import CASES, Case, cases, differences, findings_of

COUNT = 2000
ROOT = Path(__file__).resolve().parent.parent
HEAD = "coherence: 1\n"


@dataclass(frozen=True, slots=True)
class Small:
    """A design, the code that answers it, and whether a run breaks it."""

    kind: str
    text: str
    code: str
    broken: bool


def containment(draw: random.Random) -> Small:
    """Tries that hang until they are cut, with a constant pause, under a deadline; in milliseconds."""
    tries, each, pause = draw.randint(2, 5), draw.randint(1, 9), draw.randint(0, 5)
    deadline = draw.randint(each + 1, 60)
    now, broken = 0, False
    for k in range(tries):
        for tick in range(now, now + each):
            broken = broken or tick >= deadline  # a tick of a try that the deadline has ended
        now += each + (pause if k + 1 < tries else 0)
    call = f"from: a, to: b, deadline: {deadline} ms, per_try: {each} ms, tries: {tries}, pause: {pause} ms"
    text = f"{HEAD}calls: [{{{call}, retry_when: [timeout], on_timeout: cancel}}]\n"
    return Small("containment", text, "COH201", broken)


def sends(draw: random.Random) -> Small:
    """Nested tries, sent one by one, against a promise about their number."""
    layers, most = [draw.randint(1, 4) for _ in range(draw.randint(2, 3))], draw.randint(1, 40)
    sent = sum(1 for _ in itertools.product(*(range(n) for n in layers)))
    calls = "".join(
        f"  - {{from: c{n}, to: c{n + 1}, tries: {tries}, retry_when: [down], fails: {{down: 1 ms}}}}\n"
        for n, tries in enumerate(layers)
    )
    text = f"{HEAD}calls:\n{calls}promises: {{p: attempts(c{len(layers)}) per call(c0) <= {most}}}\n"
    return Small("sends", text, "COH202", sent > most)


def lease(draw: random.Random) -> Small:
    """A task of any whole number of seconds of its range, and a lease that ends in one of them."""
    low, width, after = draw.randint(1, 30), draw.randint(0, 20), draw.randint(1, 60)
    held = [second for takes in range(low, low + width + 1) for second in range(1, takes + 1) if second == after]
    timer = f"from: w.task starts, after: {after} s, unless: w.task ends, then: redeliver"
    text = f"{HEAD}components: {{w: {{takes: {{task: {low} s .. {low + width} s}}}}}}\ntimers: {{l: {{{timer}}}}}\n"
    return Small("lease", text, "COH207", bool(held))


def probe(draw: random.Random) -> Small:
    """A ticker with any phase that kills after so many probes in a row have failed."""
    low, width = draw.randint(1, 40), draw.randint(0, 20)
    first, every, misses = draw.randint(0, 20), draw.randint(1, 10), draw.randint(1, 5)
    broken = False
    for phase, takes in itertools.product(range(every), range(low, low + width + 1)):
        failed, second = 0, first + phase
        while second <= takes and failed < misses:
            failed, second = failed + 1, second + every
        broken = broken or failed == misses
    timer = f"from: s starts, first: {first} s, every: {every} s, misses: {misses}, unless: s.load ends"
    text = (
        f"{HEAD}components: {{s: {{takes: {{load: {low} s .. {low + width} s}}}}}}\n"
        f"timers: {{p: {{{timer}, then: restart s}}}}\n"
    )
    return Small("probe", text, "COH206", broken)


def demand(draw: random.Random) -> Small:
    """Steps counted turn by turn against a limit of them."""
    low, width, most, each = draw.randint(0, 5), draw.randint(0, 15), draw.randint(1, 40), draw.randint(1, 3)
    largest = 0
    for turns in range(low, low + width + 1):
        steps = 1
        for _ in range(turns):
            steps += each
        largest = max(largest, steps)
    limit = f"counts: {each} * a.turns + 1, at_most: {most}, per: run, when_full: fail and lose"
    text = f"{HEAD}components: {{a: {{turns: {low} .. {low + width}}}}}\nlimits: {{l: {{{limit}}}}}\n"
    return Small("demand", text, "COH209", largest > most)


def ejection(draw: random.Random) -> Small:
    """Hosts ejected one by one while they fail and the cap allows it; in panic the ejected ones are used again."""
    hosts, share, panic = draw.randint(1, 12), draw.randint(1, 100), draw.randint(1, 99)
    rounding, failing = draw.choice(("up", "down")), draw.randint(1, hosts)
    ejected = 0
    while ejected < failing and _allowed(ejected + 1, hosts, share, up=rounding == "up"):
        ejected += 1
    broken = (hosts - ejected) * 100 < panic * hosts
    text = (
        f"{HEAD}components: {{hosts: {{copies: {hosts}, failing: {failing}}}}}\n"
        f"limits: {{e: {{counts: hosts.ejected, at_most: {share} % of hosts.copies round {rounding}}}}}\n"
        f"loops: {{panic: {{trigger: hosts.healthy / hosts.copies < {panic} %,"
        " actuation: {signal: hosts.ejected, law: ignore}}}\n"
    )
    return Small("ejection", text, "COH214", broken)


def _allowed(ejected: int, hosts: int, share: int, *, up: bool) -> bool:
    """Is the number within the share of the hosts, rounded?"""
    whole = ejected if not up else ejected - 1
    return whole * 100 < share * hosts if up else whole * 100 <= share * hosts


KINDS: tuple[Callable[[random.Random], Small], ...] = (containment, sends, lease, probe, demand, ejection)


def drawn(count: int, *, seed: int = 1) -> Iterator[Small]:
    """So many designs, kind by kind."""
    draw = random.Random(seed)  # noqa: S311  (no secret)
    for number in range(count):
        yield KINDS[number % len(KINDS)](draw)


def verdicts(one: Small) -> set[Verdict]:
    """What the code says of the design."""
    text = one.text
    options = Options(verify_repairs=False)
    made = analysis(read_text(text), {"<design>": text}, lambda s: read_text(s["<design>"]), options=options)
    return {finding.verdict for finding in made.answers.findings if finding.code == one.code}


def disagreeing(count: int, *, seed: int = 1) -> list[Small]:
    """Designs whose verdict is not that of the simulation: a conflict unseen, a false one, or none at all."""
    return [one for one in drawn(count, seed=seed) if _is_wrong(one)]


def _is_wrong(one: Small) -> bool:
    """Is the verdict about a design not that of its simulation?"""
    return not _agrees(one, verdicts(one))


def _agrees(one: Small, said: set[Verdict]) -> bool:
    if one.broken:
        return Verdict.CONFLICT in said
    return Verdict.CONFLICT not in said and Verdict.PROVED in said


def rows() -> Iterator[Row]:
    """Differences from the simulation, and the written cases that come out wrong."""
    every = list(drawn(COUNT))
    found = [one for one, wrong in zip(every, on_all_cores(_is_wrong, every), strict=True) if wrong]
    shown = "; ".join(f"{one.kind}: {' '.join(one.text.split())}" for one in found[:2])
    yield Row(f"verdicts that differ from a simulation of each try, of {COUNT} designs", len(found), "== 0", "", shown)
    wrong = [name for name in on_all_cores(_differing, expected_files([ROOT / "specs"])) if name]
    yield Row("specs and repaired twins that come out wrong", len(wrong), "== 0", "designs", ", ".join(wrong[:3]))
    yield from _markdown()


def _differing(expected: Path) -> str:
    """The name of a spec that is not as expected."""
    (result,) = compare([expected], time_limit=20.0)
    return expected.parent.name if result.differences else ""


def _markdown() -> Iterator[Row]:
    """The Markdown cases: each mark must be found, nothing loud may be found beside it."""
    every = part_of([case for case in cases(CASES) if not case.signals])
    wrong = [name for name in on_all_cores(_wrong, every) if name]
    what = f"Markdown cases that come out wrong, of {len(every)}"
    yield Row(what, len(wrong), "== 0", "designs", ", ".join(wrong[:3]))


def _wrong(case: Case) -> str:
    """The name of a case that comes out wrong; no mark speaks of repairs, which are most of a check."""
    return case.name if differences(case, findings_of(case.text, repairs=False, manifests=case.manifests)) else ""
