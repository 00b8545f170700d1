"""Real manifests: what they must give, at which lines, and that nothing else is said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.checking.workspace import open_workspace
from coherence.findings.finding import Finding, Severity, Verdict
from coherence.language import document
from coherence.language.reading import read_text
from tests.paths import DATA

MANIFESTS = DATA / "manifests"

ROUTE = """apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: reviews, namespace: prod}
spec:
  hosts: [reviews]
  http:
    - route:
        - destination:
            host: reviews
      timeout: 2s
      retries:
        attempts: 3
"""


def loud(findings: Sequence[Finding]) -> list[Finding]:
    """Conflicts, and whatever is more than information."""
    return [f for f in findings if f.verdict is Verdict.CONFLICT or f.severity is not Severity.INFO]


def test_a_route_timeout_without_a_try_timeout_never_retries_slow_answers(tmp_path: Path) -> None:
    path = tmp_path / "route.yaml"
    path.write_text(ROUTE)
    (finding,) = loud(check(path).findings)
    assert finding.code == "COH201"
    assert "on slow answers" in finding.message
    assert "fast failures" in finding.message
    assert {place.line for place in finding.places} >= {10, 12}
    limit, longer = finding.repairs  # one try alone is no retry: nothing would be proved of it
    assert {limit.verified, longer.verified} == {"re-checked: proved"}
    assert "perTryTimeout" in limit.edits[0].new
    assert [edit.new.strip() for edit in longer.edits] == ["9s", "perTryTimeout: 2s"]


def test_its_repaired_twin_is_proved(tmp_path: Path) -> None:
    path = tmp_path / "route.yaml"
    path.write_text(ROUTE + "        perTryTimeout: 300ms\n")
    found = check(path).findings
    assert not loud(found)
    assert [f.verdict for f in found if f.code == "COH201"] == [Verdict.PROVED]


@pytest.mark.parametrize("attempts", [0, 1, 3])
def test_attempts_count_retries(attempts: int, tmp_path: Path) -> None:
    path = tmp_path / "route.yaml"
    path.write_text(ROUTE.replace("attempts: 3", f"attempts: {attempts}"))
    (call,) = open_workspace([path]).entries[0].design.calls
    assert [str(tries) for tries in call.tries] == [str(attempts + 1)]
    assert call.tries[0].place.line == 12
    assert call.tries[0].place.column == 19


@pytest.mark.slow
def test_the_two_scalers_of_one_deployment_are_switched_off() -> None:
    files = [MANIFESTS / "hpa/production-stack-hpa-10.yaml", MANIFESTS / "keda/production-stack-scaledobject.yaml"]
    (finding,) = loud(check(*files).findings)
    assert finding.code == "COH205"
    assert [(Path(p.file).name, p.line) for p in finding.places] == [
        ("production-stack-hpa-10.yaml", 11),
        ("production-stack-scaledobject.yaml", 11),
    ]
    for file in files:
        assert not loud(check(file).findings)


@pytest.mark.parametrize("folder", ["istio", "hpa", "keda", "deployment-probes"])
def test_no_false_finding_on_the_others(folder: str) -> None:
    for file in sorted((MANIFESTS / folder).glob("*.y*ml")):
        if ".tpl." in file.name:
            with pytest.raises(InputError, match="render"):
                check(file)
        else:
            assert not loud(check(file).findings), file


@pytest.mark.parametrize("folder", ["istio", "hpa", "keda", "deployment-probes"])
def test_the_written_design_reads_again(folder: str) -> None:
    for file in sorted((MANIFESTS / folder).glob("*.y*ml")):
        if ".tpl." in file.name:
            continue
        documents = [
            d for d in document.read(file.read_bytes(), file.name, last_key_counts=True) if importers.recognises(d)
        ]
        if documents:
            again = read_text(importers.design_yaml(documents), "again.yaml")
            first = importers.design_of(documents)
            assert set(again.loops) == set(first.loops)
            assert [call.name for call in again.calls] == [call.name for call in first.calls]
            assert set(again.timers) == set(first.timers)
            assert set(again.limits) == set(first.limits)


def test_what_is_not_read_is_listed() -> None:
    file = MANIFESTS / "deployment-probes/gie-vllm-gpu-deployment.yaml"
    told = [line.key for line in check(file).not_read]
    assert any("volumes" in text for text in told)
    assert any("ConfigMap" in text for text in told)
