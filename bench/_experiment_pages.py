"""Writes the pages and pictures of the five experiments: `python -m bench._experiment_pages` runs every system again.

A page has what is known of its systems, the null, false alarms and power at the size of the issue, and a picture of how
often the null is rejected as the effect grows.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bench._experiments import LEAST_SEEN, MOST_FALSE, SEEDS, Chance, Experiment, chance
from coherence.causal.signatures.signature import Signature
from coherence.reporting.pictures.figure import Dots, Figure, Guide, Line, Panel
from coherence.reporting.pictures.svg import svg

FOLDER = Path(__file__).resolve().parent.parent / "specs" / "experiments"
FEW = 60  # seeds of a point of a curve
SIZES = (0, 0.05, 0.1, 0.15, 0.2)
System = Callable[[Chance], Signature]


@dataclass(frozen=True)
class PowerCurve:
    """How often the null of a family of systems is rejected, by the size of the effect."""

    name: str
    x: str
    sizes: Sequence[Any]
    system: Callable[[Any], System]

    def points(self) -> tuple[tuple[float, float], ...]:
        """Returns (size, share of seeds with a rejection)."""
        return tuple((size, self._share(size)) for size in self.sizes)

    def _share(self, size: float) -> float:
        answers = (self.system(size)(chance(f"{self.name} {size}", seed)) for seed in range(FEW))
        return sum(answer.rejects for answer in answers) / FEW


@dataclass(frozen=True)
class Page:
    """A folder, the part of the benchmark behind it, what its signature is held to be, and its curves."""

    folder: str
    part: str
    claim: str
    correction: str
    curves: tuple[PowerCurve, ...]

    @property
    def experiment(self) -> Experiment:
        """Returns its systems."""
        experiment: Experiment = importlib.import_module(f"bench.{self.part}").EXPERIMENT
        return experiment


def pages() -> Iterator[Page]:
    """Yields the five pages."""
    yield from (_asymmetry(), _memory(), _placement(), _distortion(), _migration())


def _asymmetry() -> Page:
    from bench._infrastructure_asymmetry import answered

    return Page(
        "asymmetry-drift",
        "_infrastructure_asymmetry",
        "Timing distributions widen as tiers become less alike.",
        "They widen under the null too, where weights follow rates; the wait, in services of its tier, does not.",
        (
            PowerCurve("half each", "h", SIZES, lambda h: partial(answered, h=h, by_rate=False)),
            PowerCurve("weights by rate", "h", SIZES, lambda h: partial(answered, h=h, by_rate=True)),
        ),
    )


def _memory() -> Page:
    from bench._infrastructure_memory import BLOCK, LONGEST, SEQUENCES, answered

    each, sizes = LONGEST // BLOCK, (180, 240, 300, 400, 500)
    return Page(
        "memory-path",
        "_infrastructure_memory",
        "Reported compute is free where requests are not served.",
        "It is so under a bottleneck of memory that admission knows, too: only what is computed again tells.",
        (
            PowerCurve("48 sequences", "blocks", sizes, lambda b: partial(answered, blocks=b, sequences=SEQUENCES)),
            PowerCurve("as memory holds", "blocks", sizes, lambda b: partial(answered, blocks=b, sequences=b // each)),
        ),
    )  # fmt: skip


def _placement() -> Page:
    from bench._infrastructure_placement import spread

    sizes = (0, 0.01, 0.02, 0.03, 0.05)
    return Page(
        "inaccessible-capacity",
        "_infrastructure_placement",
        "Throughput does not grow in proportion to resources.",
        "Nor does it at one saturated link that all share; only here it depends on the placement.",
        (PowerCurve("placements", "spread of their throughputs", sizes, lambda size: partial(spread, size=size)),),
    )


def _distortion() -> Page:
    from bench._infrastructure_distortion import answered

    return Page(
        "control-distortion",
        "_infrastructure_distortion",
        "Variance and controllability of what is observed change.",
        "Delay is asked first: one that is not in the equation looks like a gain that varies.",
        (
            PowerCurve("gain varies", "CV", SIZES, lambda cv: partial(answered, cv=cv)),
            PowerCurve("constant overhead", "overhead", SIZES, lambda size: partial(answered, gain=1 - size)),
        ),
    )


def _migration() -> Page:
    from bench._infrastructure_migration import answered

    return Page(
        "migration",
        "_infrastructure_migration",
        "Performance changes, and nothing of the code fails.",
        "It changes with the load as well: delays are compared at equal load.",
        (
            PowerCurve("slower by", "share", SIZES, lambda size: partial(answered, slower=1 + size)),
            PowerCurve("load higher by", "share of capacity", SIZES, lambda size: partial(answered, shift=size)),
        ),
    )


def drawn(page: Page) -> str:
    """Returns the picture of a page."""
    lines = [Line(curve.name, curve.points(), style) for style, curve in enumerate(page.curves)]
    dots = tuple(Dots("", line.points, "os"[style], style) for style, line in enumerate(lines))
    guides = (Guide("y", 0.01, "level 1 %"), Guide("y", LEAST_SEEN / SEEDS, "target 90 %"))
    x = " or ".join(dict.fromkeys(curve.x for curve in page.curves))
    panel = Panel("", x, f"share of {FEW} seeds", tuple(lines), dots, low=0.0, high=1.0, guides=guides)
    return svg(Figure(f"{page.experiment.mode}: null rejected", (panel,)))


def written(page: Page) -> str:
    """Returns the text of a page."""
    experiment, module = page.experiment, importlib.import_module(f"bench.{page.part}")
    null = experiment.signatures(next(iter(experiment.nulls)), 1)[0]
    rows = "\n".join(_row(experiment, name) for name in (*experiment.nulls, *experiment.effects))
    return f"""# {experiment.mode[2:].capitalize()}
**Claim.** {page.claim} {page.correction}

**Systems.** {inspect.cleandoc(module.__doc__ or "")}

**Null.** {null.null[0].upper()}{null.null[1:]}.

| truth | null rejected | target | magnitude, mean | unit |
|---|--:|--:|--:|---|
{rows}

![how often the null is rejected](power.svg)

    python -m bench infrastructure
    python -m bench._experiment_pages

The first command measures the table, the second writes this page and its picture.
"""


def _row(experiment: Experiment, name: str) -> str:
    answers = experiment.signatures(name)
    times = sum(answer.rejects for answer in answers)
    target = f"at most {MOST_FALSE}" if name in experiment.nulls else f"at least {LEAST_SEEN}"
    mean = sum(answer.magnitude for answer in answers) / len(answers)
    unit = f"{answers[0].unit} {answers[0].denominator}".removeprefix("1 ")
    return f"| {name} | {times} of {SEEDS} | {target} | {mean:.3g} | {unit} |"


def main() -> None:
    """Writes all pages and pictures."""
    for page in pages():
        folder = FOLDER / page.folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "README.md").write_text(written(page))
        (folder / "power.svg").write_text(drawn(page))


if __name__ == "__main__":
    main()
