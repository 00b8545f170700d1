"""Job: its pods, its deadline, what is listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.design import Design

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {{name: train}}
spec: {{{spec}, template: {{spec: {{containers: [{{name: work}}]}}}}}}
"""


def read(spec: str) -> Design:
    return importers.design_from_sources({"job.yaml": JOB.format(spec=spec)})


@pytest.mark.parametrize(
    ("spec", "copies"),
    [("parallelism: 4", "4"), ("completions: 9", "1"), ("parallelism: 4, completions: 3", "3"),
     ("parallelism: 2, completions: 3", "2"), ("parallelism: 0", "0")],
)  # fmt: skip
def test_so_many_pods_run_at_once(spec: str, copies: str) -> None:
    assert str(read(spec).components["train"].copies) == copies


@pytest.mark.parametrize(("run", "verdict"), [("2 min .. 4 min", Verdict.CONFLICT), ("10 s .. 50 s", Verdict.PROVED)])
def test_a_job_that_takes_longer_than_its_deadline_is_killed(run: str, verdict: Verdict, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB.format(spec="activeDeadlineSeconds: 60"))
    overlay = f"coherence: 1\noverlays: manifests\ncomponents: {{train: {{takes: {{run: {run}}}}}}}\n"
    (tmp_path / "overlay.yaml").write_text(overlay)
    assert {f.verdict for f in check(tmp_path).findings if f.code == "COH207"} == {verdict}


@pytest.mark.parametrize(
    "key", ["backoffLimit: 3", "podFailurePolicy: {rules: []}", "ttlSecondsAfterFinished: 60", "suspend: true"]
)
def test_what_no_question_can_use_is_listed_with_its_reason(key: str) -> None:
    words = [words for _, words in read(key).not_modelled]
    assert any(f"spec.{key.partition(':')[0]} (" in text for text in words)


@pytest.mark.parametrize("spec", ["parallelism: many", "activeDeadlineSeconds: -1", "backoffLimit: [1]"])
def test_wrong_numbers_are_refused_with_their_line(spec: str) -> None:
    with pytest.raises(InputError, match=r"job\.yaml:4"):
        read(spec)
