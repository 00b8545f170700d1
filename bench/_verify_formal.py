"""Published cases with a known verdict, the designs of real incidents, and the cluster-controller cases by time.

A case is a heading of `tests/incidents/formal.md` with the designs below it; it is right if each of them is.
SOURCE of the seconds of the peer: Kivi (bingzheliu/Kivi, SPIN), 3 nodes, 2.6 to 4.8 s each where it was run again.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

from bench.harness import Row, on_all_cores
from coherence.checking.reports import check
from coherence.findings.finding import Severity, Verdict
from tests.case_files import CASES, Case, cases, differences, findings_of

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT / "tests" / "data" / "designs"
PAGE = "incidents/formal.md"
NODES = (3, 50)
BOOT = "K-C1-hpa-boot-cpu"
SPREAD = "placement: {web: [spread by zone <= 1, spread by node <= 1]}"
SCALER = "uses: kubernetes_hpa, target: {signal: web.cpu, setpoint: 50 %}"


def rows() -> Iterator[Row]:
    """All rows of this part."""
    yield from formal_rows()
    if SHARED.is_dir():
        yield from shared_rows()
    yield from cluster_rows()


def formal_rows() -> Iterator[Row]:
    """Cases that come out as their authors saw them, and conflicts that are called proved."""
    headings = _headings((CASES / PAGE).read_text(encoding="utf-8"))
    published = [case for case in cases(CASES / "incidents") if case.name.startswith(PAGE)]
    names = [headings[int(case.name.rsplit(":", 1)[1])] for case in published]
    judged = list(zip(names, on_all_cores(_judged, published), strict=True))
    wrong = {name for name, (differs, _) in judged if differs}
    proved = {name for name, (_, conflict_proved) in judged if conflict_proved}
    known = set(headings.values())
    yield Row("published cases right", len(known - wrong), f"== {len(known)}", "cases", ", ".join(sorted(wrong)))
    yield Row("published conflicts called proved", len(proved), "== 0", "cases", ", ".join(sorted(proved)))


def _judged(case: Case) -> tuple[bool, bool]:
    """Does a case differ from what its authors saw, and is a conflict that they saw called proved?"""
    findings = findings_of(case.text, repairs=False)
    differs, verdicts = bool(differences(case, findings)), {(f.code, f.verdict) for f in findings}
    conflicts = (mark.code for mark in case.expected if mark.verdict == "conflict")
    return differs, differs and any((code, "proved") in verdicts for code in conflicts)


def _headings(page: str) -> dict[int, str]:
    """Line of a fence -> the heading above it."""
    made, name = {}, ""
    for number, line in enumerate(page.split("\n"), 1):
        heading = re.match(r"## (\S+)", line)
        name = heading[1] if heading else name
        if line.startswith("```yaml"):
            made[number] = name
    return made


def shared_rows() -> Iterator[Row]:
    """The designs of real incidents: the conflict that is known, or none."""
    from tests.incidents.test_designs import EXPECTED

    wrong = [name for name, right in zip(EXPECTED, on_all_cores(_right, EXPECTED.items()), strict=True) if not right]
    right = len(EXPECTED) - len(wrong)
    yield Row("designs of incidents right", right, f"== {len(EXPECTED)}", "designs", ", ".join(wrong))


def _right(expected: tuple[str, str | None]) -> bool:
    """Has a design the conflict that is known of it, or none?"""
    name, code = expected
    findings = check(SHARED / f"{name}.yaml").findings
    conflicts = {f.code for f in findings if f.verdict is Verdict.CONFLICT}
    return code in conflicts if code else not conflicts and all(f.severity is Severity.INFO for f in findings)


def cluster_rows() -> Iterator[Row]:
    """Processor seconds of the slowest, from the text to the findings with blame and repairs."""
    few, many = (spread(count) for count in NODES)
    texts = {f"two spread rules, {NODES[0]} nodes": few}
    if SHARED.is_dir():
        texts |= {name: (SHARED / f"{name}.yaml").read_text(encoding="utf-8") for name in ("PB-05", "SE-01", "SE-05")}
    taken = {name: _seconds(text) for name, text in texts.items()}
    slowest = max(taken, key=lambda name: taken[name])
    peer = "SPIN-based checker 2.6 to 4.8"
    yield Row(f"cluster-controller cases ({len(taken)}): slowest", taken[slowest], "<= 1", "s", f"{slowest}; {peer}")
    yield Row(f"two spread rules, {NODES[1]} nodes", _seconds(many), "<= 1", "s", peer)
    yield Row("cluster-controller case of start-up work", _seconds(_first(BOOT)), "<= 1", "s", peer)


def _first(heading: str) -> str:
    """The first design below a heading."""
    page = (CASES / PAGE).read_text(encoding="utf-8")
    line = next(line for line, name in _headings(page).items() if name == heading)
    return next(case.text for case in cases(CASES / "incidents") if case.name == f"{PAGE}:{line}")


def spread(nodes: int) -> str:
    """A third of the nodes in one zone; as many members as break one of the rules or the other."""
    small = nodes // 3
    places = f"a: {{count: {nodes - small}, zone: a}}, b: {{count: {small}, zone: b}}"
    loop = f"hpa: {{{SCALER}, actuation: {{signal: web.desired, bounds: [1, {2 * nodes}]}}}}"
    return f"coherence: 1\nplaces: {{{places}}}\n{SPREAD}\nloops: {{{loop}}}\n"


def _seconds(text: str) -> float:
    """Not a number where no conflict is found."""
    findings_of(text)  # imports
    start = time.process_time()
    found = findings_of(text)
    spent = time.process_time() - start
    return spent if any(f.verdict is Verdict.CONFLICT for f in found) else float("nan")
