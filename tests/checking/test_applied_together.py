"""Variants of a repository are designs of their own; what lies in different folders without repetition is one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.checking.applied_together import applied_together
from coherence.checking.reports import check
from coherence.checking.workspace import open_workspace
from coherence.findings.finding import Verdict
from coherence.importers import documents_of

WEB = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web%s}\nspec: {replicas: 1}\n"
SCALER = """apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {maxReplicas: 9, scaleTargetRef: {kind: Deployment, name: web}}
"""


def groups(texts: Mapping[str, str]) -> list[set[str]]:
    documents = [source for file, text in texts.items() for source in documents_of(text, file)]
    return [{source.file for source in own} for own in applied_together(documents)]


def test_files_in_which_nothing_is_written_twice_are_one_design() -> None:
    texts = {"base/web.yaml": WEB % "", "overlays/prod/scaler.yaml": SCALER, "b/api.yaml": WEB % "2"}
    assert groups(texts) == [set(texts)]


def test_folders_that_write_the_same_object_are_taken_apart_and_the_others_stay_together() -> None:
    texts = {"a/web.yaml": WEB % "", "b/web.yaml": WEB % "", "c/api.yaml": WEB % "2", "d/db.yaml": WEB % "3"}
    assert groups(texts) == [{"c/api.yaml", "d/db.yaml"}, {"a/web.yaml"}, {"b/web.yaml"}]


def test_the_same_name_in_two_namespaces_is_two_objects() -> None:
    one, other = WEB.replace("}", ", namespace: a}", 1), WEB.replace("}", ", namespace: b}", 1)
    assert len(groups({"a/web.yaml": one % "", "b/web.yaml": other % ""})) == 1
    assert len(groups({"a/web.yaml": one % "", "b/web.yaml": one % ""})) == 2
    assert len(groups({"a/web.yaml": one % "", "b/web.yaml": WEB % ""})) == 2


def test_an_autoscaler_goes_with_the_nearest_workload_of_its_name() -> None:
    texts = {"x/k8s/web.yaml": WEB % "", "x/scaling/web.yaml": SCALER, "y/web.yaml": WEB % ""}
    assert groups(texts) == [{"x/k8s/web.yaml", "x/scaling/web.yaml"}, {"y/web.yaml"}]


def test_an_autoscaler_far_from_any_workload_of_its_name_stays_alone() -> None:
    texts = {"a/b/c/d/scaler.yaml": SCALER, "x/web.yaml": WEB % "", "y/web.yaml": WEB % ""}
    assert groups(texts) == [{"a/b/c/d/scaler.yaml"}, {"x/web.yaml"}, {"y/web.yaml"}]


def test_two_overlays_share_their_base() -> None:
    texts = {"base/web.yaml": WEB % "", "o/prod/scaler.yaml": SCALER, "o/test/scaler.yaml": SCALER}
    assert groups(texts) == [{"base/web.yaml", "o/prod/scaler.yaml"}, {"base/web.yaml", "o/test/scaler.yaml"}]


def test_a_conflict_of_what_two_designs_share_is_one_finding(tmp_path: Path) -> None:
    budget = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\nspec: {minAvailable: 1, %s}\n"
    pods = WEB.replace("replicas: 1", "replicas: 1, template: {metadata: {labels: {app: web}}}")
    for name, text in {
        "base/web.yaml": WEB % "",
        "base/db.yaml": pods % "2" + "---\n" + budget % "selector: {matchLabels: {app: web}}",
        "o/prod/scaler.yaml": SCALER,
        "o/test/scaler.yaml": SCALER,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert len(open_workspace([tmp_path]).entries) == 2
    conflicts = [f for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT and f.code == "COH209"]
    assert len(conflicts) == 1


def test_files_that_are_named_themselves_and_those_under_an_overlay_are_one_design(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(WEB % "")
    assert len(open_workspace([tmp_path]).entries) == 2
    assert len(open_workspace([tmp_path / "a.yaml", tmp_path / "b.yaml"]).entries) == 1
    (tmp_path / "overlay.yaml").write_text(
        "coherence: 1\noverlays: manifests\ncomponents: {web: {takes: {load: 1 s}}}\n"
    )
    assert len(open_workspace([tmp_path]).entries) == 1


PATHS = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=3).map("/".join)


@pytest.mark.slow
@given(st.dictionaries(PATHS, st.sampled_from(["", "1", "2"]), min_size=1, max_size=8))
def test_every_file_is_in_a_design_and_no_design_writes_an_object_twice(names: dict[str, str]) -> None:
    sets = groups({f"{path}.yaml": WEB % name for path, name in names.items()})
    assert set().union(*sets) == {f"{path}.yaml" for path in names}
    for own in sets:
        defined = [names[file.removesuffix(".yaml")] for file in own]
        assert len(defined) == len(set(defined))


STACK = """AWSTemplateFormatVersion: '2010-09-09'
Transform: AWS::Serverless-2016-10-31
Resources:
  Queue: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: %s}}
  Work:
    Type: AWS::Serverless::Function
    Properties:
      Timeout: %s
      Events: {Q: {Type: SQS, Properties: {Queue: !GetAtt Queue.Arn, BatchSize: 1}}}
"""
CELERY = 'task_time_limit = %s\nbroker_transport_options = {"visibility_timeout": %s}\ntask_acks_late = True\n'
SERVICE = "services: {web: {image: w, stop_grace_period: %s}}\n"


@pytest.mark.parametrize(
    ("name", "quick", "slow", "wrong"),
    [
        ("template.yaml", STACK % (60, 10), STACK % (3600, 600), STACK % (60, 90)),
        ("celeryconfig.py", CELERY % (30, 60), CELERY % (3000, 6000), CELERY % (90, 60)),
    ],
)
@pytest.mark.parametrize("by_name", [False, True], ids=["folder", "named"])
def test_names_that_are_known_in_their_file_alone_meet_none_of_another_file(
    name: str, quick: str, slow: str, wrong: str, tmp_path: Path, *, by_name: bool
) -> None:
    def verdicts(*texts: str) -> list[str]:
        files = [tmp_path / f"service-{number}" / name for number in range(len(texts))]
        for file, text in zip(files, texts, strict=True):
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        report = check(*files) if by_name else check(tmp_path)
        assert all(len({place.file for place in finding.places}) == 1 for finding in report.findings)
        return sorted(finding.verdict for finding in report.findings if finding.code == "COH207")

    assert verdicts(quick, slow) == [Verdict.PROVED] * 2  # a short lease is no matter to a long run of another
    assert verdicts(wrong, quick) == [Verdict.CONFLICT, Verdict.PROVED]  # and its short run saves nobody


def test_two_clusters_are_two_designs_and_one_with_its_other_files_is_one() -> None:
    cluster = "ClusterName=%s\nSlurmctldHost=h\nKillWait=30\nPartitionName=p MaxTime=60\n"
    texts = {
        "a/slurm.conf": cluster % "a",
        "a/gres.conf": "NodeName=n1 Name=gpu Count=8\n",
        "b/slurm.conf": cluster % "b",
    }
    assert groups(texts) == [{"a/slurm.conf", "a/gres.conf"}, {"b/slurm.conf"}]


def test_compose_files_that_somebody_names_or_that_override_are_one_project_and_others_are_variants(
    tmp_path: Path,
) -> None:
    texts = {
        "compose.yaml": SERVICE % "30s",
        "compose.override.yaml": SERVICE % "40s",
        "compose.big.yaml": SERVICE % "60s",
    }
    assert groups(texts) == [{"compose.yaml", "compose.override.yaml"}, {"compose.big.yaml"}]
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert len(open_workspace([tmp_path / name for name in texts]).entries) == 1


def test_an_autoscaler_that_two_workloads_are_equally_near_to_goes_with_neither() -> None:
    texts = {"app/web.yaml": WEB % "", "other/web.yaml": WEB % "", "scaling/hpa.yaml": SCALER}
    assert {"scaling/hpa.yaml"} in groups(texts)
    assert {"app/web.yaml"} in groups(texts)
