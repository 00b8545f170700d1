"""Large designs, as several teams would write them together, and how long their answers take.

A design is a number of neighbourhoods (services).  Each has loops that share its own signals, calls in a chain within
it and one to the next service, timers on its activities and limits on its counters; some couple to the service beside
them.  Every number comes from one seed.
"""

from __future__ import annotations

import gc
import random
import re
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.harness import Row, on_all_cores, process
from bench.spine import command
from coherence.__main__ import COLLECT
from coherence.checking.design_check import Analysis, Options, analysis, reanalyse
from coherence.checking.rereading import reread
from coherence.findings.design_answers import Answers
from coherence.language.design import Design
from coherence.language.reading import read_text

FILE = "design.yaml"
EDITS = 12
QUICK = Options(verify_repairs=False)
TOGETHER = 8  # services that call each other
POLICIES_OF_ONE = 10  # loops, calls, timers and limits of one neighbourhood


def large(policies: int, *, seed: int = 1) -> str:
    """The text of a design of about so many policies."""
    draw = random.Random(seed)  # noqa: S311  (no secret)
    services = [_service(i, policies // POLICIES_OF_ONE, draw) for i in range(policies // POLICIES_OF_ONE)]
    sections = {key: "".join(line for one in services for line in one[key]) for key in services[0]}
    head = "coherence: 1\nsystem: many services\nplaces: {n1: {zone: a}, n2: {zone: a}, n3: {zone: b}}\n"
    return head + "".join(f"{key}:\n{body}" for key, body in sections.items())


def _service(i: int, count: int, draw: random.Random) -> dict[str, list[str]]:
    made: dict[str, list[str]] = {key: [] for key in ("workload", "components", "loops", "calls", "timers", "limits")}
    made["placement"], made["promises"] = [], []
    name, task, load = f"s{i}", draw.choice((60, 120, 240)), draw.randint(30, 50)
    made["workload"] = [f"  {name}_in: {{rate: {draw.randint(10, 90)} req/s}}\n"]
    made["components"] = [
        f"  {name}: {{copies: {draw.randint(3, 9)}, takes: {{load: 20 s .. {load} s}}, returns: always}}\n",
        f"  {name}_work: {{turns: 3 .. {draw.randint(5, 9)}, takes: {{task: 10 s .. {task} s}}}}\n",
    ]
    made["loops"] = list(_loops(name, i, draw))
    made["calls"] = list(_calls(name, i, count, draw))
    probe = f"from: {name} starts, first: 60 s, every: 10 s, misses: 3, unless: {name}.load ends"
    lease = f"from: {name}_work.task starts, after: {draw.choice((5, 6, 10))} min, unless: {name}_work.task ends"
    made["timers"] = [
        f"  {name}_startup: {{{probe}, then: restart {name}}}\n",
        f"  {name}_lease: {{{lease}, then: redeliver}}\n",
    ]
    steps = f"counts: 2 * {name}_work.turns + 1, at_most: {draw.randint(18, 40)}, per: run"
    made["limits"] = [
        f"  {name}_slots: {{counts: {name}.ongoing, at_most: {draw.randint(4, 16)}, per: replica, when_full: wait}}\n",
        f"  {name}_steps: {{{steps}, when_full: fail and lose}}\n",
    ]
    made["placement"] = [f"  {name}: [spread by zone <= 1]\n"] if i % 4 == 0 else []
    made["promises"] = [f"  {name}_tries: attempts({name}_db) per call({name}_in) <= 4\n"] if i % 5 == 0 else []
    return made


def _loops(name: str, i: int, draw: random.Random) -> Iterator[str]:
    """An autoscaler, a batch controller that looks at it, and a shedder that looks at the service before it."""
    beside = f"s{i - 1}" if i % TOGETHER else name
    high = draw.randint(70, 95)
    yield (
        f"  {name}_hpa:\n    uses: kubernetes_hpa\n    layer: orchestration\n    objective: match load\n"
        f"    target: {{signal: {name}.cpu, setpoint: 70 %, tolerance: 10 %}}\n"
        f"    timescale: {{period: 15 s, hold_down: 5 min}}\n"
        f"    actuation: {{signal: {name}.desired, bounds: [2, {draw.randint(10, 30)}]}}\n"
    )
    yield (
        f"  {name}_shed:\n    layer: runtime\n    objective: protect memory\n    timescale: {{period: 5 s}}\n"
        f"    trigger: {name}.used > {high} %\n    actuation: {{signal: {name}.admitted, law: set, to: 0}}\n"
    )
    yield (
        f"  {name}_batch:\n    layer: cluster\n    objective: no idle workers\n    timescale: {{period: 30 s}}\n"
        f"    trigger: {beside}.used < 40 % and {name}.desired < 9\n"
        f"    actuation: {{signal: {name}_work.running, law: step, by: 1, bounds: [0, 64]}}\n"
    )


def _calls(name: str, i: int, count: int, draw: random.Random) -> Iterator[str]:
    tries = draw.randint(2, 4)
    yield (
        f"  - {{from: {name}_in, to: {name}, deadline: {draw.randint(8, 30)} s, per_try: 3 s, tries: {tries},"
        " retry_when: [timeout, unavailable], on_timeout: cancel}\n"
    )
    yield (
        f"  - {{from: {name}, to: {name}_db, deadline: 2 s, per_try: {draw.randint(300, 900)} ms, tries: 2,"
        " pause: {base: 25 ms, cap: 100 ms, jitter: full}, retry_when: [unavailable],"
        " fails: {unavailable: 1 ms .. 5 ms}, on_timeout: abandon}\n"
    )
    if (i + 1) % TOGETHER and i + 1 < count:
        yield f"  - {{from: {name}, to: s{i + 1}, deadline: 4 s, per_try: 1 s, tries: 2, retry_when: [unavailable]}}\n"


def chain(depth: int) -> str:
    """Calls one below the other, each within one try of the one above, the last of them with retries."""
    rest = "retry_when: [timeout], on_timeout: cancel"
    limits = [(f"c{n + 1}", 10 + 2 * (depth - n), 9 + 2 * (depth - n), 1) for n in range(depth)] + [("store", 8, 2, 3)]
    lines = (
        f"  - {{from: c{n}, to: {to}, deadline: {whole} s, per_try: {each} s, tries: {tries}, {rest}}}\n"
        for n, (to, whole, each, tries) in enumerate(limits)
    )
    return "coherence: 1\ncalls:\n" + "".join(lines)


def loops(count: int) -> str:
    """Loops alone, in groups of five that write and read one another's signals."""
    lines = ["coherence: 1", "loops:"]
    for n in range(count):
        beside = 5 * (n // 5) + (n + 1) % 5
        lines += [
            f"  l{n}:",
            "    layer: runtime",
            "    objective: keep it small",
            f"    timescale: {{period: {1 + n % 7} s}}",
            f"    trigger: p{n}.used > {50 + n % 40} % and p{beside}.size < {5 + n % 3}",
            f"    actuation: {{signal: p{n}.size, law: step, by: 1, bounds: [1, {8 + n % 5}]}}",
        ]
    return "\n".join(lines) + "\n"


def rebuild(sources: Mapping[str, str]) -> Design:
    """The design of the text."""
    return read_text(sources[FILE], FILE)


def asked(text: str, *, options: Options = QUICK) -> Analysis:
    """Read and answered from nothing."""
    return analysis(read_text(text, FILE), {FILE: text}, rebuild, options=options)


def spent(act: Callable[[], object]) -> float:
    """Processor seconds of one run."""
    start = time.process_time()
    act()
    return time.process_time() - start


def rows() -> Iterator[Row]:
    """All rows of this part; processor time, repairs apart where the row does not say otherwise."""
    gc.set_threshold(*COLLECT)  # as the command does
    spent(lambda: asked(large(100)))  # imports
    yield Row(
        "1,000 policies, all pairs, with reading", spent(lambda: asked(large(1000))), "<= 5", "s", "prototype 7.0"
    )
    full = Options()
    yield Row(
        "the same, with blame and re-checked repairs", spent(lambda: asked(large(1000), options=full)), ">= 0", "s"
    )
    yield Row("one edit among 1,000 policies, with reading: median", *_edits(1000))
    yield Row("10,000 policies, all pairs, with reading", spent(lambda: asked(large(10_000))), "<= 60", "s")
    deep = spent(lambda: asked(chain(200), options=full))
    yield Row("chain of 200 calls, with reading, pairs and repairs", deep, "<= 1", "s")
    yield Row("check of 100 loops (4,950 pairs) on the command line", _command_line(), "<= 5", "s")


def _edits(policies: int) -> tuple[float, str, str, str]:
    """Value, target, unit and peer of the row: a number of one line is another."""
    text, draw = large(policies), random.Random(3)  # noqa: S311  (no secret)
    design = read_text(text, FILE)
    before = analysis(design, {FILE: text}, rebuild, options=QUICK)  # of the same design that the edit is read beside
    taken: list[float] = []
    answers: list[tuple[str, Answers]] = []
    while len(taken) < EDITS:
        after = _changed(text, draw)
        start = time.process_time()
        again = reanalyse(before, reread(design, after), {FILE: after}, rebuild)
        taken.append(time.process_time() - start)
        answers.append((after, again.answers))
    if not all(on_all_cores(_same_from_nothing, answers)):
        return float("inf"), "<= 100", "ms", "another answer than from nothing"
    return 1000 * statistics.median(taken), "<= 100", "ms", f"slowest {1000 * max(taken):.0f}, same answers"


def _same_from_nothing(edited: tuple[str, Answers]) -> bool:
    """Are the answers about an edited text those that are given from nothing?"""
    text, answers = edited
    return asked(text).answers == answers


def _changed(text: str, draw: random.Random) -> str:
    lines = text.split("\n")
    numbers = re.compile(r"\b(\d+) (s|ms|min)\b")
    at = draw.choice([n for n, line in enumerate(lines) if numbers.search(line)])
    lines[at] = numbers.sub(lambda m: f"{int(m[1]) + 1} {m[2]}", lines[at], count=1)
    return "\n".join(lines)


def _command_line() -> float:
    """Wall seconds of the whole command."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / FILE
        path.write_text(loops(100), encoding="utf-8")
        start = time.perf_counter()
        process([*command(), "check", str(path)], accepted=(0, 1))
        return time.perf_counter() - start
