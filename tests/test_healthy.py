"""Checks the healthy designs: no alarm beyond those that a file argues for, and no fewer answers than it states.

A design of `tests/healthy/` names its sources in the comment above it, and in one line of it what is answered:
`# answers: 15 of 20 policies, 2 of 2 promises, 1 open`.  A policy is answered where a proof or a conflict names it;
open are the undecided answers.  A conflict that is true, or that can be argued about, is marked at its line as in the
Markdown cases, and argued for in the comment (`# true, COH201: why`, `# arguable, COH213: why`).

`python -m tests.test_healthy` prints a line for each design; with `--update` it writes the lines of answers again.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from coherence.checking.design_check import Answers, analyse
from coherence.findings.accounting import policies
from coherence.findings.finding import Finding, Severity, Verdict
from coherence.language.reading import read_text
from tests.case_files import FILE, Case, Mark, differences, marks

FOLDER = Path(__file__).parent / "healthy"
DESIGNS = sorted(FOLDER.glob("*.yaml"))
SLOW: frozenset[str] = frozenset()  # designs that take more than a few seconds
ANSWERS = re.compile(r"^# answers: (\d+) of (\d+) policies, (\d+) of (\d+) promises, (\d+) open$", re.MULTILINE)
ARGUED = re.compile(r"^# (true|arguable), (COH\d{3}): \S", re.MULTILINE)
SOURCES = re.compile(r"^# Sources:\n((?:# - .*\n)+)", re.MULTILINE)
LEAST_DESIGNS, POLICIES, MOST_ARGUABLE = 40, range(10, 61), 0.5  # arguable ones of 100 policies


class Counts(NamedTuple):
    """How many policies and promises there are, how many are answered, and how many answers are undecided."""

    answered: int
    policies: int
    kept: int
    promises: int
    undecided: int

    @property
    def line(self) -> str:
        """Returns the line of the comment that states them."""
        return (
            f"# answers: {self.answered} of {self.policies} policies, {self.kept} of {self.promises} promises, "
            f"{self.undecided} open"
        )


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def answers_of(path: Path) -> Answers:
    text = text_of(path)
    return analyse(
        read_text(text, FILE), {FILE: text}, lambda sources: read_text(sources[FILE], FILE), verify_repairs=False
    )


def is_alarm(finding: Finding) -> bool:
    """Returns whether a finding says that something is wrong with the design."""
    return finding.verdict in (Verdict.CONFLICT, Verdict.VACUOUS) or finding.severity is not Severity.INFO


def counts_of(path: Path) -> Counts:
    answers, names = answers_of(path), policies(read_text(text_of(path), FILE))
    deciding = {name for finding in answers.findings if finding.verdict.decides for name in finding.of}
    account = answers.accounting
    kept = account.promises_proved + account.promises_conflict
    undecided = sum(finding.verdict is Verdict.UNDECIDED for finding in answers.findings)
    return Counts(len(deciding & set(names)), len(names), kept, account.promises, undecided)


def stated(text: str) -> Counts:
    """Returns the counts of a design's comment.  Raises ValueError where it states none."""
    line = ANSWERS.search(text)
    if line is None:
        raise ValueError("state the answers: run `python -m tests.test_healthy --update`")
    return Counts(*(int(number) for number in line.groups()))


def unexpected(text: str, findings: Sequence[Finding]) -> list[str]:
    """Returns a line for each alarm that no mark of the design states, and for each mark that no alarm has."""
    case = Case("", FILE, text, marks(text), silent=False, slow=False, spoken=frozenset())
    return differences(case, [finding for finding in findings if is_alarm(finding)])


def argued(text: str) -> dict[str, str]:
    """Returns for each code that the comment argues about whether the alarm is true or arguable."""
    return {code: judgement for judgement, code in ARGUED.findall(text)}


def alarms(text: str, judgement: str) -> Iterator[Mark]:
    """Yields the marks of a design that its comment judges so."""
    judged = argued(text)
    yield from (mark for mark in marks(text).elements() if judged.get(mark.code) == judgement)


ALL = [pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * (path.stem in SLOW)) for path in DESIGNS]


@pytest.mark.parametrize("path", ALL)
def test_a_healthy_design_has_no_alarm_but_those_that_it_argues_for(path: Path) -> None:
    answers = answers_of(path)
    assert not answers.cut_short
    alarms_ = unexpected(text_of(path), answers.findings)
    assert not alarms_, "\n".join(["", path.stem, *alarms_])


@pytest.mark.parametrize("path", ALL)
def test_a_healthy_design_is_answered_at_least_as_far_as_it_states(path: Path) -> None:
    counts, expected = counts_of(path), stated(text_of(path))
    assert (counts.policies, counts.promises) == (expected.policies, expected.promises)
    assert counts.answered >= expected.answered
    assert counts.kept >= expected.kept
    assert counts.undecided <= expected.undecided


@pytest.mark.parametrize("path", DESIGNS, ids=lambda path: path.stem)
def test_a_healthy_design_is_whole_and_names_its_sources(path: Path) -> None:
    text = text_of(path)
    counts, sources = stated(text), SOURCES.search(text)
    assert counts.policies in POLICIES
    assert 2 * counts.answered >= counts.policies
    assert sources is not None
    assert sources[1].count("\n") >= 2
    assert argued(text).keys() == {mark.code for mark in marks(text)}


def test_the_corpus_is_large_and_hardly_argued_about() -> None:
    texts = [text_of(path) for path in DESIGNS]
    arguable = sum(1 for text in texts for _ in alarms(text, "arguable"))
    assert len(texts) >= LEAST_DESIGNS
    assert 100 * arguable <= MOST_ARGUABLE * sum(stated(text).policies for text in texts)


JOB = """coherence: 1
components: {job: {takes: {run: 1 s .. 9 s}}}
timers: {cap: {from: job.run starts, after: 5 s, unless: job.run ends, then: kill job}}"""


def test_an_alarm_that_is_not_marked_is_named_and_a_marked_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text(JOB, encoding="utf-8")
    findings = answers_of(path).findings
    assert unexpected(JOB, findings)[0] == "unexpected: line 3 COH207 conflict possible x1"
    marked = f"{JOB}  # COH207 conflict"
    assert not unexpected(marked, findings)
    assert [mark.code for mark in alarms(f"# true, COH207: a test\n{marked}", "true")] == ["COH207"]
    assert not list(alarms(f"# true, COH207: a test\n{marked}", "arguable"))


def main(arguments: Sequence[str]) -> int:
    """Prints a line for each design; with `--update` writes the lines of answers again.  Exit code 1 at an alarm."""
    surplus = 0
    for path in DESIGNS:
        begun, text = time.process_time(), text_of(path)
        counts = counts_of(path)
        if "--update" in arguments:
            comment, design = ANSWERS.sub("", text).split("coherence: 1\n", 1)
            path.write_text(f"{comment.rstrip()}\n{counts.line}\ncoherence: 1\n{design}", encoding="utf-8")
        lines = [f"{path.stem:28} {counts.line[11:]:60} {time.process_time() - begun:5.1f} s"]
        lines += unexpected(text, answers_of(path).findings)
        surplus += len(lines) > 1
        sys.stdout.write("\n    ".join(lines) + "\n")
    return 1 if surplus else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
