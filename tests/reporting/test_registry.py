"""Formats are found by walking the package; nothing heavy is imported to write one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import coherence
from coherence import reporting
from coherence.base.errors import UsageError
from coherence.findings.finding import Report, Verdict
from coherence.reporting import formats, render, versions
from tests.reporting.conftest import conflict, proof, report_of

NAMES = ("concise", "github", "json", "junit", "markdown", "sarif", "text")


def test_the_formats_are_the_modules_of_the_package() -> None:
    modules = {path.stem.rstrip("_") for path in Path(reporting.__path__[0]).glob("[!_]*.py")}
    assert set(formats()) == modules
    assert tuple(formats()) == NAMES


@pytest.mark.parametrize(("wrong", "right"), [("sarfi", "sarif"), ("jsn", "json"), ("Markdown", "markdown")])
def test_an_unknown_format_gets_a_suggestion(wrong: str, right: str, full_report: Report) -> None:
    with pytest.raises(UsageError, match=f"'{wrong}'; did you mean '{right}'"):
        render(wrong, full_report)


def test_an_unknown_option_gets_a_suggestion(full_report: Report) -> None:
    with pytest.raises(UsageError, match="'color'; did you mean 'colour'"):
        render("text", full_report, color=True)


@pytest.mark.parametrize("name", NAMES)
def test_problems_only_leaves_out_proofs_and_suppressed_findings_everywhere(name: str) -> None:
    problem = conflict()
    whole = report_of(problem, proof(), suppressed=(proof("COH204", 8),))
    assert render(name, whole, problems_only=True) == render(name, report_of(problem))


def test_versions_name_the_tool_python_and_the_solvers() -> None:
    found = versions()
    assert found["python"] == sys.version.split()[0]
    assert found["z3-solver"][0].isdigit()
    assert found["coherence"] == coherence.__version__
    assert list(found) == sorted(found)


SCRIPT = """
import sys
from coherence.reporting import formats, render
from tests.reporting.conftest import everything, RULES
heavy = {"z3", "numpy", "scipy", "sympy", "networkx", "pandas", "rich", "control", "pgmpy", "click", "pydantic"}
before = heavy & set(sys.modules)
sys.stdout.reconfigure(encoding="utf-8")
for name in formats():
    print(name, render(name, everything(), rules=RULES))
assert heavy & set(sys.modules) == before, heavy & set(sys.modules)
"""


def _run(seed: str) -> bytes:
    environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([".", *sys.path])}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, check=True)
    return done.stdout


@pytest.mark.slow
def test_bytes_do_not_depend_on_the_process_and_nothing_heavy_is_imported() -> None:
    first = _run("1")
    assert len(first) > 10_000
    assert _run("2") == first


@pytest.mark.parametrize("name", NAMES)
def test_the_order_in_which_engines_answer_does_not_matter(name: str, full_report: Report) -> None:
    turned = report_of(*reversed(full_report.findings), suppressed=full_report.suppressed)
    assert render(name, turned) == render(name, full_report)


@pytest.mark.parametrize("name", NAMES)
def test_the_duration_of_the_run_is_in_text_alone(name: str, full_report: Report) -> None:
    same = render(name, full_report, timing=0.41) == render(name, full_report)
    assert same is (name != "text")


def test_a_report_without_findings_renders_everywhere() -> None:
    for name in formats():
        assert "36" in render(name, report_of()) or name in {"concise", "github"}


def test_verdicts_are_those_that_the_formats_know() -> None:
    assert set(Verdict) == {"conflict", "proved", "undecided", "vacuous", "note"}
