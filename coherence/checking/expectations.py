"""Compares the findings about each `design.yaml` with the `expected.yaml` beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path

from coherence.base import units
from coherence.base.errors import InputError, Problem
from coherence.base.jobs import HERE, WorkerPool, finished, in_order
from coherence.base.number_text import render_decimal
from coherence.base.places import Place
from coherence.findings.finding import Finding, Report, Severity, Verdict
from coherence.language import document
from coherence.language.document import Items, Node, Scalar, Table
from coherence.language.reading import read_bytes


@dataclass(frozen=True)
class Result:
    """One design: its report, and how it differs from what is expected."""

    path: Path
    report: Report
    differences: tuple[str, ...]


@dataclass(frozen=True)
class Expected:
    """A finding that must be there: code, verdict, and names that it must name."""

    code: str
    verdict: str
    of: frozenset[str]

    def meets(self, finding: Finding) -> bool:
        return finding.code == self.code and finding.verdict == self.verdict and self.of <= set(finding.of)

    def __str__(self) -> str:
        return f"{self.code} {self.verdict}" + (f" of {', '.join(sorted(self.of))}" if self.of else "")


def expected_files(paths: Iterable[Path]) -> list[Path]:
    """Returns the `expected.yaml` of each design under the paths.  Raises InputError where there is none."""
    files = [
        f
        for path in paths
        for f in (sorted(path.rglob("expected.yaml")) if path.is_dir() else [path.parent / "expected.yaml"])
    ]
    if not files:
        raise InputError(
            [
                Problem(
                    Place("expected.yaml", 1, 1, 1, 1),
                    "no expected.yaml under these paths",
                    "write one beside design.yaml",
                )
            ]
        )
    return files


def compare(
    files: Sequence[Path], *, time_limit: float = 60.0, base: Path | None = None, workers: WorkerPool = HERE
) -> Iterator[Result]:
    """Yields how each design differs from its `expected.yaml`, in order; names relative to `base`.

    Raises InputError.
    """
    job = partial(_result, time_limit=time_limit, base=base)
    return in_order(finished(job, files, workers))


def _result(path: Path, *, time_limit: float, base: Path | None) -> Result:
    from coherence.checking.reports import report
    from coherence.checking.workspace import open_workspace

    root = document.read(read_bytes(path, str(path)), str(path))[0].root
    inputs = [
        p for p in sorted(path.parent.iterdir()) if p.suffix in (".yaml", ".yml", ".json") and p.name != "expected.yaml"
    ]
    answered = report(open_workspace(inputs, root=base), time_limit=time_limit, verify_repairs=False)
    return Result(path.parent.relative_to(base) if base else path.parent, answered, tuple(differences(root, answered)))


def differences(root: Node, report: Report) -> list[str]:
    """Returns what is expected and absent, what is there and not expected, and numbers that are off."""
    if not isinstance(root, Table):
        return ["expected.yaml is not a mapping"]
    wanted = _wanted(root)
    loud = [f for f in report.findings if f.severity is not Severity.INFO or f.verdict is Verdict.CONFLICT]
    missing = [f"expected and absent: {one}" for one in wanted if not any(one.meets(f) for f in report.findings)]
    surplus = [
        f"found and not expected: {f.code} {f.verdict} of {', '.join(f.of)}: {f.message}"
        for f in loud
        if not any(one.meets(f) for one in wanted)
    ]
    return missing + surplus + _numbers(root, report)


def _wanted(root: Table) -> list[Expected]:
    block = root.get("findings")
    expected = []
    for item in block if isinstance(block, Items) else ():
        if isinstance(item, Table):
            names = item.get("of")
            of = (
                frozenset(n.text for n in names if isinstance(n, Scalar))
                if isinstance(names, Items)
                else frozenset[str]()
            )
            expected.append(Expected(_text(item, "code"), _text(item, "verdict"), of))
    return expected


def _text(table: Table, key: str) -> str:
    node = table.get(key)
    return node.text if isinstance(node, Scalar) else ""


def _numbers(root: Table, report: Report) -> list[str]:
    """Returns where `numbers: {name: {value, unit, rtol}}` and the numbers of the findings differ."""
    block = root.get("numbers")
    figures: dict[str, list[Fraction]] = {}
    for finding in report.findings:
        for name, (figure, _) in finding.evidence.numbers.items():
            figures.setdefault(name, []).append(Fraction(figure))
    wrong = []
    for name, entry in block.entries.items() if isinstance(block, Table) else ():
        if not isinstance(entry, Table):
            continue
        text = f"{_text(entry, 'value')} {_text(entry, 'unit')}".strip()
        value = units.quantity(text)[0]
        tolerance = Fraction(_text(entry, "rtol") or "0")
        if not any(abs(one - value) <= tolerance * abs(value) for one in figures.get(name, ())):
            seen = ", ".join(render_decimal(one) for one in figures.get(name, ())) or "nothing"
            wrong.append(f"{name}: {text} expected, {seen} found")
    return wrong


def summary(results: Sequence[Result]) -> str:
    """Returns the text of a comparison: a line per design, its differences under it, and a closing line."""
    lines = []
    for result in results:
        lines.append(f"{'ok  ' if not result.differences else 'FAIL'} {result.path}")
        lines += [f"       {line}" for line in result.differences]
    return "\n".join([*lines, closing(results)]) + "\n"


def closing(results: Sequence[Result]) -> str:
    """Returns how many designs were compared and how many differ."""
    bad = sum(bool(result.differences) for result in results)
    return f"{len(results)} designs, {bad} differ from their expected.yaml"
