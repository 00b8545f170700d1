"""Random retrying calls on real proxies: is the observed collapse or recovery the predicted one?

    python -m bench._simulate_testbed 30 7     # 30 configurations, drawn from seed 7

Drawn are proxy, workers, service time, load, limit of a try, tries, what becomes of a try given up, the length of
the pause, and for Envoy a budget, a cap on retries or a breaker.  A configuration is near the edge where other
seeds of the simulation give the other verdict; it counts as any other, except in the row of amplification.
The simulation draws the arrivals and service times that the real load and back end draw from the same seed.
Observations that the machine disturbed (late timers) are said, and counted as well.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.harness import BenchError, Row
from coherence.language.reading import read_text
from coherence.simulate.testbed import proxies
from coherence.simulate.testbed.observe import RECOVERED
from coherence.simulate.testbed.predict import Prediction, predict
from coherence.simulate.testbed.processes import binary
from coherence.simulate.testbed.reproduction import Observation, run
from coherence.simulate.testbed.set_up import RunTiming, SetUp, set_up

COUNT, SEED = 12, 1
AT_ONCE = 4
MOST_TRIES = 300.0  # per second and configuration: several run at once
LASTS, BEFORE = 40.0, 10.0
SHORTEST = 0.5  # s: the relative error of a shorter recovery is that of single requests
WINDOWS = ("before", "during", "end")


@dataclass(frozen=True)
class Case:
    """One configuration: its design, its proxy, and how it was run."""

    text: str
    proxy: str
    timing: RunTiming

    def made(self) -> SetUp:
        return set_up(read_text(self.text, "random.yaml"), before=self.timing.before, pause=self.timing.pause)


@dataclass(frozen=True)
class Outcome:
    """A configuration with what was predicted and what was seen."""

    case: Case
    told: Prediction
    seen: Observation

    @property
    def right(self) -> bool:
        return self.told.measures.verdict == self.seen.measures.verdict

    @property
    def recovery_error(self) -> float | None:
        """Relative; None unless it was to recover, and did, in a time that can be compared."""
        wanted = self.told.measures.recovery
        compared = self.right and self.told.measures.verdict == RECOVERED and wanted >= SHORTEST
        return abs(self.seen.measures.recovery / wanted - 1) if compared else None

    @property
    def amplification_error(self) -> float:
        """The largest relative one of the windows."""
        pairs = [(self.seen.measures.windows[name], self.told.measures.windows[name]) for name in WINDOWS]
        return max(abs(seen.tries / told.tries - 1) for seen, told in pairs if told.requests and told.tries)


def rows() -> Iterator[Row]:
    """Share classified right, and the largest errors."""
    yield from rows_of(outcomes(cases(COUNT, SEED)))


def rows_of(found: Sequence[Outcome]) -> Iterator[Row]:
    """Three rows."""
    many = f"{len(found)} random configurations on real proxies"
    disturbed = sum(bool(one.seen.disturbed) for one in found)
    peer = f"the real {', '.join(sorted({one.case.proxy for one in found}))}; {disturbed} disturbed"
    yield Row(f"{many}: verdict predicted right", 100 * sum(o.right for o in found) / len(found), ">= 95", "%", peer)
    late = [error for one in found if (error := one.recovery_error) is not None]
    yield Row(f"recovery time, largest error of {len(late)}", 100 * max(late, default=0.0), "<= 20", "%", peer)
    far = [one.amplification_error for one in found if one.right and not one.told.near_edge]
    yield Row(f"amplification, largest error of {len(far)} away from the edge", 100 * max(far), "<= 5", "%", peer)


def cases(count: int, seed: int) -> list[Case]:
    """Drawn from an explicit seed, for the proxies that are installed.  Raises BenchError where none is."""
    chance = random.Random(seed)  # noqa: S311  (reproducible, not secret)
    known = [name for name in proxies.names() if binary(proxies.proxy(name).BINARY)]
    if not known:
        raise BenchError("no proxy is installed: install nginx-light, haproxy or the extra [testbed]")
    return [_case(chance, known, seed + number) for number in range(count)]


def _case(chance: random.Random, known: Sequence[str], seed: int) -> Case:
    proxy, tries = chance.choice(known), chance.choice((1, 2, 3, 3, 4))
    mean, load = chance.randrange(20, 81, 5), chance.uniform(0.3, 0.7)
    most = int(MOST_TRIES / tries * mean / 1000 / load)
    copies = chance.randint(2, max(2, min(8, most)))
    how = "cancel" if chance.random() < 0.2 else "abandon"
    limits = _limits(chance, copies) if proxy == "envoy" else ""
    text = (
        "coherence: 1\n"
        f"workload: {{clients: {{rate: {load * 1000 * copies / mean:.1f} req/s,"
        f" service: {{mean: {mean} ms, cv: {chance.choice(('0.5', '1'))}}}}}}}\n"
        f"components: {{workers: {{copies: {copies}}}}}\n"
        f"calls: [{{from: clients, to: workers, per_try: {mean * chance.randint(4, 10)} ms, tries: {tries},"
        f" retry_when: [timeout], on_timeout: {how}{', budget: retries' if 'retries:' in limits else ''}}}]\n{limits}"
    )
    return Case(text, proxy, RunTiming(BEFORE, chance.choice((1.0, 2.0, 3.0)), LASTS, seed))


def _limits(chance: random.Random, copies: int) -> str:
    kind = chance.choice(("none", "budget", "cap", "breaker"))
    if kind == "budget":
        share = f"{chance.randrange(10, 50, 5)} % of clients in flight"
        return f"limits: {{retries: {{uses: retry_budget, counts: clients.retries in flight, at_most: {share}}}}}\n"
    if kind == "cap":
        most = chance.choice((1, 3, 10, 30))
        return f"limits: {{retries: {{counts: clients.retries in flight, at_most: {most}, when_full: reject}}}}\n"
    if kind == "breaker":
        most = copies * chance.randint(2, 12)
        return f"limits: {{cap: {{counts: clients in flight, at_most: {most}, when_full: reject}}}}\n"
    return ""


def outcomes(chosen: Iterable[Case]) -> list[Outcome]:
    """Predict all, then run them, several at once: they mostly wait."""
    drawn = list(chosen)
    told = [predict(case.made(), case.timing) for case in drawn]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE) as pool:
        seen = list(pool.map(lambda turn: _seen(drawn[turn], Path(folder) / str(turn)), range(len(drawn))))
    return [Outcome(*one) for one in zip(drawn, told, seen, strict=True)]


def _seen(case: Case, folder: Path) -> Observation:
    folder.mkdir()
    made, chosen = case.made(), proxies.proxy(case.proxy)
    proxies.accept(chosen, made)
    return run(folder, made, chosen, case.timing)


def _told(one: Outcome) -> str:
    seen, told = one.seen.measures, one.told.measures
    numbers = [f"{name} {seen.windows[name].tries:.3f}/{told.windows[name].tries:.3f}" for name in WINDOWS]
    marks = ["WRONG" * (not one.right), "near the edge" * one.told.near_edge, one.seen.disturbed]
    head = f"{one.case.proxy}: {seen.verdict}/{told.verdict} {seen.recovery:.2f}/{told.recovery:.2f} s"
    return f"{head}; {', '.join(numbers)} {' '.join(filter(None, marks))}\n{one.case.text}"


if __name__ == "__main__":
    words = [int(word) for word in sys.argv[1:]]
    found = outcomes(cases(*words, *(COUNT, SEED)[len(words) :]))
    print(*map(_told, found), sep="\n")
    print(*rows_of(found), sep="\n")
