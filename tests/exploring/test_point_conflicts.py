"""A sweep says `settles` of no point of which `check` says conflict, and of none at which runs collapse.

By hand, thousands: `python -m tests.exploring.test_point_conflicts FAMILY FIRST LAST`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random

import pytest

from coherence.checking.design_check import Options, analyse
from coherence.exploring.sweeps import verdict_of
from coherence.findings.finding import Verdict
from coherence.language.design import Design
from coherence.language.reading import read_text
from coherence.loops.designs.feedback_groups import Deadline
from coherence.model.elaborate import elaborate
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting
from tests.loops import coupled_loops, single_loops

FILE = "d.yaml"
Family = Callable[[Random], str]
BESIDE = """coherence: 1
workload: {{clients: {{rate: 65 req/s, service: {{mean: 40 ms, cv: 1}}}}}}
components: {{workers: {{copies: 4}}, web: {{load: 100, usage: load / n}}}}
calls: [{call}]
loops:
  hpa:
    timescale: {{period: 15 s, phase: 0 s}}
    target: {{signal: web.usage, setpoint: 7}}
    actuation: {{signal: web.n, law: proportional, bounds: [1, 60], from: 9}}
"""


def requests(random: Random) -> str:
    """Returns a loop that settles beside a call whose retries may keep an overload up."""
    rate, tries, copies = random.choice([10, 40, 60, 80, 95, 130]), random.randint(1, 4), random.choice([3, 4, 8])
    given_up, per_try = random.choice(["abandon", "cancel"]), random.choice([100, 250, 1000])
    budget = random.choice(["", "", ", budget: retries"])
    hedge = random.choice(["", "", ", hedge_after: 50 ms"]) if tries == 1 else ""
    text = f"""coherence: 1
workload: {{clients: {{rate: {rate} req/s, service: {{mean: {random.choice([20, 40])} ms, cv: 1}}}}}}
components: {{workers: {{copies: {copies}}}, web: {{load: 100, usage: load / n}}}}
calls:
  - {{from: clients, to: workers, per_try: {per_try} ms, tries: {tries}, retry_when: [timeout],
     on_timeout: {given_up}{budget}{hedge}}}
loops:
  hpa:
    timescale: {{period: 15 s, phase: 0 s}}
    target: {{signal: web.usage, setpoint: 7}}
    actuation: {{signal: web.n, law: proportional, bounds: [1, 60], from: 9}}
"""
    limit = "{counts: clients.retries in flight, at_most: 20 % of clients in flight, when_full: reject}"
    return text + (f"limits: {{retries: {limit}}}\n" if budget else "")


def promised(random: Random) -> str:
    """Returns a pool with a promise about it that its own action may break on the way to rest."""
    text = single_loops.pool(random)
    return text + f"promises: {{calm: always web.n <= {random.choice([6, 20, 70, 400])}}}\n"


FAMILIES: tuple[Family, ...] = (*single_loops.FAMILIES, *coupled_loops.FAMILIES, promised, requests)


def contradictions(text: str, counts: Counter[str]) -> Iterator[str]:
    """Yields what `check` or runs of requests say against a point that settles."""
    design = read_text(text, FILE)
    cell = verdict_of(elaborate(design), (), Deadline(300), {FILE: text})
    counts[cell.verdict] += 1
    if cell.verdict != "settles":
        return
    findings = analyse(
        design, {FILE: text}, lambda sources: read_text(sources[FILE], FILE), ignore=("COH107",), verify_repairs=False
    ).findings
    yield from (f"{f.code} of {f.of}: {f.message}" for f in findings if f.verdict is Verdict.CONFLICT)
    if design.calls:
        yield from _collapsed(design)


def _collapsed(design: Design) -> Iterator[str]:
    """Yields runs that have not come back from a pause of 3 s after six minutes."""
    run = study(design, Setting(400.0, seeds=(1, 2), pauses=(("workers", 20.0, 3.0),)))
    for reading in run.readings:
        if reading.what in ("runs that collapse", "succeed in the last tenth"):
            low = reading.value > 0 if reading.what == "runs that collapse" else reading.value < 50
            if low:
                yield f"{reading.of} {reading.what}: {reading.value} %"


def _design(family: Family, seed: int) -> str:
    return family(Random(seed))  # noqa: S311  (designs, not secrets)


@pytest.mark.parametrize("family", [single_loops.level, single_loops.switch, promised, requests])
def test_nothing_that_settles_is_a_conflict(family: Family) -> None:
    text = _design(family, 1)
    assert not list(contradictions(text, Counter())), text


@pytest.mark.slow
@pytest.mark.parametrize("family", [single_loops.pool, coupled_loops.sensed, promised, requests])
def test_nothing_that_settles_is_a_conflict_in_many_draws(family: Family) -> None:
    counts = Counter[str]()
    for seed in range(100, 110):
        text = _design(family, seed)
        assert not list(contradictions(text, counts)), text
    assert counts["settles"] > 1  # else nothing was tried


@pytest.mark.parametrize("hedge", ["", ", hedge_after: 200 ms"])
def test_second_copies_that_may_keep_an_overload_up_are_open(hedge: str) -> None:
    call = f"{{from: clients, to: workers, per_try: 400 ms, tries: 1, on_timeout: abandon{hedge}}}"
    text = BESIDE.format(call=call)
    cell = verdict_of(elaborate(read_text(text, FILE)), (), Deadline(300), {FILE: text})
    assert cell.verdict == ("undecided" if hedge else "settles")


def test_codes_that_are_not_asked_say_nothing() -> None:
    text = _design(promised, 0).replace("web.n <= ", "web.n <= 0.0001 * ")
    model = elaborate(read_text(text, FILE))
    assert verdict_of(model, (), Deadline(300), {FILE: text}).verdict == "conflict"
    assert verdict_of(model, (), Deadline(300), {FILE: text}, Options(select=("COH6",))).verdict == "settles"


def main() -> None:
    """Prints every contradiction among the designs of a family, and how often each verdict was given."""
    name, first, last = sys.argv[1:]
    (family,) = (family for family in FAMILIES if family.__name__ == name)
    counts = Counter[str]()
    for seed in range(int(first), int(last)):
        text = _design(family, seed)
        for line in contradictions(text, counts):
            counts["contradictions"] += 1
            print(f"seed {seed}: {line}\n{text}", flush=True)  # noqa: T201  (it is run by hand)
    print(name, dict(sorted(counts.items())))  # noqa: T201  (it is run by hand)


if __name__ == "__main__":
    main()
