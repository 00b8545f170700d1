"""Work that is ended again and again: proofs and conflicts beside runs of drawn lives, second by second."""

from __future__ import annotations

import bisect
import random
import re
from dataclasses import dataclass, replace

import pytest

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.calls import shutdown_vs_retry

SEEDS = 300
ENDLESS = 1200  # s after which a run that is not done counts as one that never is


@dataclass(frozen=True)
class Drawn:
    """A job in whole seconds: its start-up, work and checkpoints, its own limit, and evictors with their periods."""

    load: tuple[int, int]
    run: tuple[int, int]
    every: int
    write: int
    limit: int
    away: int
    evictors: tuple[int, ...]

    @property
    def text(self) -> str:
        saves, every = (f", checkpoint: {self.write} s", f", checkpoint: {self.every} s") if self.every else ("", "")
        takes = f"load: {self.load[0]} s .. {self.load[1]} s, run: {self.run[0]} s .. {self.run[1]} s{saves}"
        returns = f"after {self.away} s" if self.away else "always"
        loops = "".join(
            f"  e{k}: {{timescale: {{period: {period} s}}, trigger: always, actuation: {{evict: job}}}}\n"
            for k, period in enumerate(self.evictors)
        )
        timers = (
            f"timers: {{wall: {{from: job starts, after: {self.limit} s, then: kill job}}}}\n" if self.limit else ""
        )
        head = f"coherence: 1\ncomponents: {{job: {{takes: {{{takes}}}{every}, returns: {returns}}}}}\n"
        return head + timers + (f"loops:\n{loops}" if loops else "")

    def draw(self, rng: random.Random, *, slow: bool) -> int | None:
        """Returns when the job is done in one run, None where it is not: chance picks durations, phases and ties."""
        phases = [1 if slow else rng.randrange(1, period + 1) for period in self.evictors]
        cuts = sorted({t for p, f in zip(self.evictors, phases, strict=True) for t in range(f, ENDLESS, p)})
        cuts.append(2 * ENDLESS)
        now = saved = 0
        work = self.run[1] if slow else rng.randint(*self.run)
        while now < ENDLESS:
            load = self.load[1] if slow else rng.randint(*self.load)
            end = min(cuts[bisect.bisect(cuts, now)], now + (self.limit or ENDLESS))
            at, done = now + load, saved
            while at < end:
                step = min(self.every or work, work - done)
                if at + step >= end:
                    break
                at, done = at + step, done + step
                if done == work:
                    return at if at < ENDLESS else None
                if at + self.write >= end:
                    break
                at, saved = at + self.write, done
            now = end + self.away
        return None


def drawn(rng: random.Random) -> Drawn:
    low, load = rng.randint(1, 40), rng.randint(0, 5)
    evictors = tuple(rng.randint(4, 60) for _ in range(rng.choice([0, 1, 1, 2, 3])))
    every = rng.choice([0, rng.randint(1, 15)])
    limit = rng.randint(4, 60) if rng.random() < 0.6 or not evictors else 0
    run = (low, low + rng.choice([0, 10]))
    return Drawn((load, load + rng.choice([0, 2])), run, every, rng.randint(0, 3), limit, rng.choice([0, 3]), evictors)


def asked(text: str) -> list[Finding]:
    return list(shutdown_vs_retry.ask(Subject(read_text(text, "d.yaml"), {"d.yaml": text})))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_answers_stand_beside_runs(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311  (draws of a test)
    design = drawn(rng)
    answers = asked(design.text)
    assert answers
    runs = [design.draw(rng, slow=slow) for slow in (True, False) for _ in range(10)]
    if any(finding.verdict is Verdict.PROVED for finding in answers):
        assert None not in runs, (design, [finding.message for finding in answers])
    for finding in answers:
        if finding.verdict is Verdict.CONFLICT:
            least = runs if finding.certainty == "certain" else runs[: len(runs) // 2]
            assert set(least) == {None}, (design, finding.message)


def lives_of_a_run(design: Drawn, rng: random.Random, *, slow: bool) -> int:
    """Returns how many lives a job takes that its limit alone ends; `ENDLESS` where it has no end."""
    saved, work = 0, design.run[1] if slow else rng.randint(*design.run)
    for life in range(1, ENDLESS):
        at, done = design.load[1] if slow else rng.randint(*design.load), saved
        while at < design.limit:
            step = min(design.every or work, work - done)
            at, done = at + step, done + step
            if at < design.limit and done == work:
                return life
            at += design.write
            saved = done if at < design.limit else saved
    return ENDLESS


@pytest.mark.parametrize("seed", range(SEEDS))
def test_so_many_tries_are_enough_or_too_few(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311  (draws of a test)
    drawn_job, tries = drawn(rng), rng.randint(2, 5)
    design = replace(drawn_job, evictors=(), limit=drawn_job.limit or 20)
    text = design.text.replace(", returns: always", "").replace(f", returns: after {design.away} s", "")
    answers = asked(f"{text}calls: [{{from: op, to: job, tries: {tries}}}]\n")
    runs = [lives_of_a_run(design, rng, slow=slow) for slow in (True, False) for _ in range(10)]
    assert len(answers) == 1
    if answers[0].verdict is Verdict.PROVED:
        assert max(runs) <= tries, (design, answers[0].message)
    elif answers[0].verdict is Verdict.CONFLICT:
        assert (min if answers[0].certainty == "certain" else max)(runs) > tries, (design, answers[0].message)


@pytest.mark.slow
def test_verdicts_of_all_kinds_are_drawn() -> None:
    """Without these the test above says nothing."""
    verdicts = [
        {(finding.verdict, finding.certainty) for finding in asked(drawn(random.Random(seed)).text)}  # noqa: S311
        for seed in range(SEEDS)
    ]
    for wanted in ((Verdict.PROVED, ""), (Verdict.CONFLICT, "certain"), (Verdict.CONFLICT, "possible")):
        assert sum(wanted in found for found in verdicts) >= SEEDS // 10


@pytest.mark.parametrize("seed", range(40))
def test_so_many_lives_are_left_long_enough_beside_failures(seed: int) -> None:
    """Counts lives that fail by chance, and are all as long as they may be, until 400 are done.

    The share lies within 5 deviations of the one that is told: by a normal law 1 in 3 million lies outside.
    """
    rng = random.Random(seed)  # noqa: S311  (draws of a test)
    load, run, mean = rng.randint(0, 20), rng.randint(5, 60), rng.randint(20, 200)
    limit = load + run + rng.randint(1, 30)
    (finding,) = asked(
        f"coherence: 1\ncomponents: {{job: {{takes: {{load: 0 s .. {load} s, run: 1 s .. {run} s}}, "
        f"returns: always, mtbf: {mean} s}}}}\n"
        f"timers: {{wall: {{from: job starts, after: {limit} s, then: kill job}}}}\n"
    )
    assert finding.verdict is Verdict.PROVED
    told = float(re.findall(r"at least ([\d.]+) % of its lives", finding.message)[0]) / 100
    lives = done = 0
    while done < 400:
        lives += 1
        done += rng.expovariate(1 / mean) > load + run
    assert abs(done - lives * told) < 5 * (lives * told * (1 - told)) ** 0.5 + lives * 1e-4
