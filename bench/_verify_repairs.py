"""Repairs, blame and the cache, over every design of the repository: specs, Markdown cases, and the shared designs.

Whether `--fix` is done at once is asked of each eighth design, since it asks each of them several times.

A conflict has numeric parameters if a number of its policies may be turned
(`coherence.checking.repair.adjustable_numbers`). Blame is measured independently of how it is found: every number of
the policies of a conflict is multiplied by factors that the engine does not use, and if the conflict goes away the
finding must point at that number.
"""

from __future__ import annotations

import os
import re
import resource
import sys
import tempfile
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path

from bench.harness import Row, on_all_cores, part_of, process
from coherence.base.errors import InputError
from coherence.checking.answers import absences, ask_all
from coherence.checking.design_check import Options, analysis
from coherence.checking.repair.adjustable_numbers import adjustable_numbers
from coherence.checking.repair.blame import Stated, stated
from coherence.checking.repair.nearest_repair import candidates
from coherence.checking.repair.rechecks import Key, RecheckContext, key_of, slow
from coherence.exploring.fixing import fix
from coherence.findings import repairs
from coherence.findings.finding import Finding, Severity, Verdict
from coherence.findings.question_input import Subject, repairs_unasked
from coherence.findings.registry import QuestionModule, question_modules
from coherence.language.design import Design
from coherence.language.reading import read_text

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT / "tests" / "data" / "designs"
FENCE = re.compile(r"^```yaml[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
OTHER_FACTORS = (Fraction(3), Fraction(1, 3))
MARK = re.compile(r"# COH\d{3} conflict")
FILE = "design.yaml"
LIMIT = 20.0  # of a question, and three of it of a design, as `check` gives them
LOOPS = 10


def rows() -> Iterator[Row]:
    """All rows of this part."""
    every = [text for _, text in designs()]
    known = [conflicts for conflicts in on_all_cores(_conflicts, every) if conflicts]
    found = [(text, one) for text, conflicts in known for one in conflicts]
    numeric = [one for text, one in found if candidates(one, adjustable_numbers(_subject(text)))]
    share = sum(any(repair.proved for repair in one.repairs) for one in numeric) / len(numeric)
    yield Row(
        f"repair that is proved ({len(numeric)} conflicts with numbers)", share, ">= 0.8", "share", "linters: none"
    )
    yield blame_row(found)
    few = set(part_of(every))
    yield fix_row([text for text, conflicts in known if text in few and not any(map(_slowly, conflicts))])
    yield cache_row()


def designs() -> Iterator[tuple[str, str]]:
    """(name, text) of every design that is said to have a conflict, and of the shared ones."""
    for path in sorted(ROOT.glob("tests/**/*.md")):
        for index, match in enumerate(FENCE.finditer(path.read_text(encoding="utf-8"))):
            if MARK.search(match[1]):
                yield f"{path.name}[{index}]", match[1]
    specs = (path for path in sorted(ROOT.glob("specs/*/design.yaml")) if not path.parent.name.endswith("-repaired"))
    for path in (*specs, *sorted(SHARED.glob("*.yaml"))):
        yield str(path), path.read_text(encoding="utf-8")


def _subject(text: str) -> Subject:
    return Subject(read_text(text, FILE), {FILE: text}, LIMIT)


def _conflicts(text: str) -> tuple[str, list[Finding]] | None:
    """The text with its conflicts; None without one."""
    try:
        design = read_text(text, FILE)
    except InputError:
        return None
    options = Options(time_limit=LIMIT)
    answers = analysis(design, {FILE: text}, lambda s: read_text(s[FILE], FILE), options=options).answers
    found = [f for f in answers.findings if f.verdict is Verdict.CONFLICT]
    return (text, found) if found else None


def _own(finding: Finding) -> list[QuestionModule]:
    return [module for module in question_modules() if any(q.code == finding.code for q in module.questions)]


def _slowly(finding: Finding) -> bool:
    return any(map(slow, _own(finding)))


def blame_row(found: list[tuple[str, Finding]]) -> Row:
    """Conflicts that point, with line and column, at every number that decides."""
    quick = [(text, one) for text, one in found if not _slowly(one)]
    good = sum(on_all_cores(_all_named, quick))
    what = f"every deciding value with file:line:column ({len(quick)} conflicts)"
    return Row(what, good / len(quick), ">= 1", "share", "linters: one line")


def _all_named(conflict: tuple[str, Finding]) -> bool:
    text, finding = conflict
    subject = _subject(text)
    asked = RecheckContext(subject, lambda s: read_text(s[FILE], FILE), _own(finding), (), ask_all, absences)
    near = [one for one in stated(subject) if one.owners & set(finding.of)]
    with repairs_unasked():
        missed = [one for one in near if not _pointed(one, finding) and _decides(one, finding, asked)]
    return not missed and all(place.line >= 1 and place.column >= 1 for place in finding.places)


def _pointed(one: Stated, finding: Finding) -> bool:
    own = one.place
    return any(p.file == own.file and p.line == own.line and p.column <= own.column < p.end_column
               for p in finding.places)  # fmt: skip


def _decides(one: Stated, finding: Finding, asked: RecheckContext) -> bool:
    for factor in OTHER_FACTORS:
        other = one.value * factor
        counted = one.value.denominator == 1 and not one.dimension.powers and other.denominator != 1
        edit = repairs.rewrite(asked.subject, one.place, other, one.dimension) if other and not counted else None
        after = asked.again((edit,), asked.modules) if edit is not None else None
        if after is not None and not any(
            key_of(f) == key_of(finding) and f.verdict is not Verdict.PROVED for f in after
        ):
            return True
    return False


def fix_row(texts: list[str]) -> Row:
    """Designs that `--fix` leaves with a finding that was not there, or that a second run changes again."""
    wrong = on_all_cores(_well_fixed, texts).count(False)
    return Row(f"--fix adds a finding or is not done at once ({len(texts)} designs)", wrong, "== 0", "designs")


def _well_fixed(text: str) -> bool:
    def rebuild(sources: Mapping[str, str]) -> Design:
        return read_text(sources[FILE], FILE)

    def loud(sources: Mapping[str, str]) -> set[Key]:
        with repairs_unasked():
            found = ask_all(Subject(read_text(sources[FILE], FILE), sources, LIMIT), question_modules())
        return {key_of(f) for f in found if f.severity is not Severity.INFO or f.verdict is Verdict.CONFLICT}

    done = fix({FILE: text}, rebuild, lambda _, found: found, time_limit=LIMIT)
    if not done.rounds:
        return True  # nothing was changed: a second run would ask the same once more
    again = fix(done.sources, rebuild, lambda _, found: found, time_limit=LIMIT)
    return loud(done.sources) <= loud({FILE: text}) and not again.rounds


def ten_loops() -> str:
    """Ten autoscalers of one workload, each executed to see that it settles."""
    loops = "".join(
        f"  hpa{k}:\n    timescale: {{period: {15 + k} s}}\n"
        f"    target: {{signal: pool{k}.used, setpoint: 70 %, tolerance: 10 %}}\n"
        f"    actuation: {{signal: pool{k}.replicas, law: proportional, bounds: [1, 40], from: 4}}\n"
        for k in range(LOOPS)
    )
    pools = "".join(f"  pool{k}: {{used: web.attempts / (pool{k}.replicas * 10 req/s)}}\n" for k in range(LOOPS))
    return f"coherence: 1\nworkload: {{web: {{rate: 120 req/s}}}}\ncomponents:\n{pools}loops:\n{loops}"


def cache_row() -> Row:
    """Processor time of a check whose answers are kept."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FILE
        path.write_text(ten_loops(), encoding="utf-8")
        os.environ["XDG_CACHE_HOME"] = folder
        command = [sys.executable, "-m", "coherence", "check", str(path), "--fail-on", "never"]
        times = []
        for _ in range(4):
            begun = resource.getrusage(resource.RUSAGE_CHILDREN)
            process(command)
            ended = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(1000 * (ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime))
        del os.environ["XDG_CACHE_HOME"]
    return Row(
        "check of 10 loops, unchanged (processor time)", min(times[1:]), "<= 500", "ms", f"first {times[0]:.0f} ms"
    )
