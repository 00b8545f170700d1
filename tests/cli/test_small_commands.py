"""Commands of a few lines: what they print, write and refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coherence.base.version import VERSION
from coherence.checking import expectations
from coherence.cli._run import run
from coherence.findings.registry import question_pages
from tests.paths import ROOT

MANIFEST = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
"""


@pytest.mark.parametrize("word", ["--version"])
def test_the_version_is_that_of_the_package(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([word]) == 0
    assert VERSION in capsys.readouterr().out


def test_a_code_and_its_slug_have_the_same_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "COH203"]) == 0
    by_code = capsys.readouterr().out
    assert by_code.startswith("COH203 ")
    assert "## Source" in by_code
    assert run(["explain", by_code.split()[1]]) == 0
    assert capsys.readouterr().out == by_code
    assert run(["explain", "COH000"]) == 2


def test_a_key_and_a_part_are_explained_in_the_words_of_their_declarations(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "timescale.hold_down"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("loops.timescale.hold_down\n  a duration\n  The window of stabilization")
    assert run(["explain", "queue"]) == 0
    out = capsys.readouterr().out  # a key of jobs, and a part
    assert out.index("jobs.queue\n") < out.index("queue  (a part: `uses: queue` under components:)")
    assert run(["explain", "promisees"]) == 2
    assert "did you mean 'promises'" in capsys.readouterr().err


def test_the_reference_of_the_language_is_its_page_in_the_documentation(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "-o", "markdown"]) == 0
    told = capsys.readouterr().out
    assert told == (ROOT / "docs/language.md").read_text(encoding="utf-8"), (
        "write it anew: coherence schema -o markdown > docs/language.md"
    )


def test_every_code_is_listed_with_its_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    pages = question_pages()
    assert run(["rules"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(pages)
    widest = max(len(page.slug) for page in pages)
    for line, page in zip(lines, pages, strict=True):
        assert line == f"{page.code}  {page.slug}{' ' * (widest - len(page.slug))}  {page.summary}"
    assert run(["rules", "-o", "json"]) == 0
    assert [row["code"] for row in json.loads(capsys.readouterr().out)["rules"]] == [page.code for page in pages]


def test_manifests_become_a_design(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "web.yaml"
    path.write_text(MANIFEST)
    assert run(["import", "all", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "web" in printed
    design = tmp_path / "design.yaml"
    design.write_text(printed)
    assert run(["check", str(design)]) == 0
    capsys.readouterr()
    assert run(["import", "Deploymnt", str(path)]) == 2
    assert "there is no importer for 'Deploymnt'" in capsys.readouterr().err
    path.write_text("a: 1\n")
    assert run(["import", "Deployment", str(path)]) == 2
    assert "no Deployment in these files" in capsys.readouterr().err


def test_the_demo_fails_where_a_design_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "specs" / "one").mkdir(parents=True)
    design = (
        "coherence: 1\ncalls:\n  - {from: a, to: b, deadline: 10 s, per_try: 5 s, tries: 4, retry_when: [timeout]}\n"
    )
    (tmp_path / "specs" / "one" / "design.yaml").write_text(design)
    expected = tmp_path / "specs" / "one" / "expected.yaml"
    expected.write_text("findings: [{code: COH201, verdict: conflict}]\n")
    monkeypatch.setattr("coherence.language.catalogue.shipped", lambda name: tmp_path / name)
    assert run(["demo"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("one  COH201 ")
    assert "1 designs, 0 differ from their expected.yaml\n" in out
    assert run(["demo", "--full"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("== one\n\nerror[COH201]: ")
    assert out.endswith("1 designs, 0 differ from their expected.yaml\n")
    expected.write_text("findings: []\n")
    assert run(["demo"]) == 1
    assert "DIFFERS  found and not expected: COH201 conflict" in capsys.readouterr().out
    assert expectations.summary([]) == "0 designs, 0 differ from their expected.yaml\n"
