"""Variants of a repository are designs of their own; what lies in different folders without repetition is one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from coherence.checking.applied_together import applied_together
from coherence.checking.workspace import check, open_workspace
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


@given(st.dictionaries(PATHS, st.sampled_from(["", "1", "2"]), min_size=1, max_size=8))
def test_every_file_is_in_a_design_and_no_design_writes_an_object_twice(names: dict[str, str]) -> None:
    sets = groups({f"{path}.yaml": WEB % name for path, name in names.items()})
    assert set().union(*sets) == {f"{path}.yaml" for path in names}
    for own in sets:
        defined = [names[file.removesuffix(".yaml")] for file in own]
        assert len(defined) == len(set(defined))
