"""The two parts of the Cluster Autoscaler against one plain program, scan by scan.

`Program` is written from what the program does in one scan and shares nothing with the engine: it adds where a pod
cannot be placed, and then removes nothing; it removes what has been unneeded for more than long enough, not before the
delays after its last addition and its last removal are over.  Each scan begins a moment more than the interval after
the one before.
SOURCE: Cluster Autoscaler 1.29 to 1.37, core/static_autoscaler.go: RunOnce (until 1.33 it ends where it has added),
isScaleDownInCooldown; core/scaledown/unneeded/nodes.go: the time since which a node is unneeded stands while scans find
it so, and is over after the unneeded time, not at it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.exact import Execution, View
from coherence.simulate.execute.laws import decide
from tests.draws import source, trace_counts

PARTS = ("cluster_autoscaler", "cluster_autoscaler_scale_down")
SCAN, TRACES = 10, 20  # seconds; traces of each design
SECOND, MOMENT = 1000, 1  # milliseconds
Scan = tuple[bool, bool]  # some pod is unschedulable; some node is unneeded


@dataclass
class Program:
    """One node group, and when it was last changed (milliseconds; None: never); delays in seconds.

    `goes_on`: as from 1.34 on, a scan that has added looks at what is unneeded, too.
    """

    least: int
    most: int
    unneeded_time: int
    after_add: int
    nodes: int
    goes_on: bool = False
    added: int | None = None
    unneeded_since: int | None = None

    def scan(self, number: int, pending: bool, idle: bool) -> int:
        """Returns the number of nodes after one scan."""
        now = number * (SCAN * SECOND + MOMENT)
        if pending and self.nodes < self.most:
            self.nodes, self.added = self.nodes + 1, now
            if not self.goes_on:
                return self.nodes
        self.unneeded_since = (now if self.unneeded_since is None else self.unneeded_since) if idle else None
        if self.unneeded_since is None or not self.unneeded_since + self.unneeded_time * SECOND < now:
            return self.nodes
        waits = self.added is not None and self.added + self.after_add * SECOND > now
        if not waits and self.nodes > self.least:
            self.nodes -= 1
        return self.nodes


def design(program: Program) -> str:
    bounds, after = f"[{program.least}, {program.most}]", max(0, program.after_add - SCAN)
    return f"""coherence: 1
components: {{pods: {{pending: 0 .. 1, idle: 0 .. 1}}}}
loops:
  up:
    uses: cluster_autoscaler
    rank: 1
    trigger: pods.pending > 0 and node.count < {program.most}
    actuation: {{signal: node.count, bounds: {bounds}, from: {program.nodes}}}
  down:
    uses: cluster_autoscaler_scale_down
    rank: 2
    trigger: pods.idle > 0 for {program.unneeded_time} s and (not up) for {after} s
    actuation: {{signal: node.count, bounds: {bounds}}}
"""


def executed(model: Model, program: Program, scans: Sequence[Scan]) -> list[int]:
    """Returns the nodes after each scan of the parts, by the executor's decisions; the first without a scale-up before.

    Ten minutes and more without one are run first, since the parts remember no addition from before the trace.
    """
    run, count, modes = Execution(model), Fraction(program.nodes), {"up": False, "down": False}
    before = program.after_add // SCAN + 1
    after = []
    for number, (pending, idle) in enumerate([(False, False)] * before + list(scans)):
        values = {"pods.pending": Fraction(pending), "pods.idle": Fraction(idle)}
        for loop in model.loops:
            view = View(run, Fraction(number * SCAN), {**values, "node.count": count, **modes}, loop.name)
            decision = decide(loop, view, run.memory[loop.name], modes[loop.name], count, count)
            modes[loop.name] = decision.mode
            if decision.value is not None and decision.value != count:
                run.memory[loop.name].changed, count = view.time, decision.value
        after.append(int(count))
    return after[before:]


def model_of(program: Program) -> Model:
    return elaborate(read_text(design(program)))


def drawn(rng: random.Random) -> Program:
    least = rng.randint(0, 4)
    most = least + rng.randint(1, 8)
    goes_on = rng.random() < 0.5
    delay = rng.choice((10, 40, 90) if goes_on else (0, 10, 40, 90))
    return Program(least, most, rng.choice((10, 30, 60)), delay, rng.randint(least, most), goes_on)


def trace(rng: random.Random, *, goes_on: bool) -> list[Scan]:
    """Returns what 40 scans find.

    The part looks at what is unneeded in a scan that adds as well, which it says: until 1.33 no change there.
    """
    busy, idle = rng.choice((0.05, 0.3)), rng.choice((0.5, 0.95))
    scans = [(False, False)]
    for _ in range(40):
        pending = rng.random() < busy
        scans.append((pending, scans[-1][1] if pending and not goes_on else rng.random() < idle))
    return scans[1:]


@trace_counts(100, of=PARTS)
def test_the_parts_replay_the_program(traces: int) -> None:
    rng = source(23)
    for _ in range(traces // TRACES):
        program = drawn(rng)
        model = model_of(program)
        for _ in range(TRACES):
            again, scans = replace(program), trace(rng, goes_on=program.goes_on)
            wanted = executed(model, program, scans)
            assert [again.scan(k, *scan) for k, scan in enumerate(scans)] == wanted, (program, scans)


def test_nothing_is_removed_in_a_scan_that_adds_nor_until_the_delay_is_over() -> None:
    scans = [(True, True), *[(False, True)] * 4]
    program = Program(1, 9, 10, 30, 5)
    assert executed(model_of(program), program, scans) == [6, 6, 6, 5, 4]
