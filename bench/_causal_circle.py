"""The circle: every design of `specs/` is run, and fitted to what its own run showed: no crash, no contradiction.

`python -m bench._causal_circle SEED... [-- DESIGN...]` prints each design; `rows` takes the first seed.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench.harness import Row
from coherence.base.errors import InputError, UsageError

if TYPE_CHECKING:
    from coherence.checking.workspace import Entry

SPECS = Path(__file__).parents[1] / "specs"
CONTRADICTIONS = ("COH401", "COH402", "COH405", "COH406")  # of a design by the telemetry of its own run
EXACTLY, REQUESTS = 7_200.0, 120.0  # s of an exact run, and of one with requests
SEEDS = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class Circle:
    """What the fit of a design to its own run says.  `refused`: why it does not run at all."""

    design: str
    codes: Mapping[str, int]
    messages: tuple[str, ...] = ()
    refused: str = ""

    @property
    def contradictions(self) -> int:
        """How many findings contradict the design."""
        return sum(self.codes.get(code, 0) for code in CONTRADICTIONS)


def designs() -> list[str]:
    """The designs of `specs/` by name."""
    return sorted(file.parent.name for file in SPECS.glob("*/design.yaml"))


def circle(design: str, seed: int) -> Circle:
    """Runs a design under a seed, writes what it shows, reads that, and fits the design to it."""
    from coherence.cli._designs import one_entry
    from coherence.door.fit import fit
    from coherence.simulate.study.recording import record
    from coherence.simulate.study.setting import Setting

    path = SPECS / design
    entry = one_entry(str(path))
    with TemporaryDirectory() as folder:
        try:
            files = record(entry.design, Setting(_span(entry), seeds=(seed,)), Path(folder))
        except (InputError, UsageError) as error:
            return Circle(design, {}, refused=str(error).splitlines()[0])
        requests = next((str(file) for file in files if file.name == "requests.csv"), None)
        fitted = fit(path, Path(folder) / "telemetry.csv", requests=requests)
        found = [finding for finding in fitted.findings if finding.code in CONTRADICTIONS]
        codes = Counter(finding.code for finding in fitted.findings)
    return Circle(design, codes, tuple(f"{one.code} {one.message}" for one in found))


def _span(entry: Entry) -> float:
    """Seconds of a run: requests are run one by one, loops alone from event to event."""
    from coherence.simulate.processes import has_requests

    return REQUESTS if has_requests(entry.design) else EXACTLY


def rows() -> Iterator[Row]:
    """Contradictions of designs by the telemetry of their own runs, under each seed."""
    for seed in SEEDS[:1]:
        results = [circle(design, seed) for design in designs()]
        ran = [one for one in results if not one.refused]
        for code in CONTRADICTIONS:
            told = sum(one.codes.get(code, 0) for one in ran)
            yield Row(f"circle, seed {seed}: {code} of a design by its own run", told, "== 0", "1", f"{len(ran)} run")


def main(words: Iterable[str]) -> None:
    """Prints every design under every seed that is named."""
    given = list(words)
    at = given.index("--") if "--" in given else len(given)
    for seed in map(int, given[:at]):
        for design in given[at + 1 :] or designs():
            start = time.perf_counter()
            one = circle(design, seed)
            told = " ".join(f"{code} x{count}" for code, count in sorted(one.codes.items()))
            print(f"{seed} {design:28} {time.perf_counter() - start:5.1f} s {one.refused or told}", flush=True)
            for message in one.messages:
                print(f"    {message}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
