"""Patches of Kustomize and templates of Helm are no objects: they are skipped, with what renders them."""

from __future__ import annotations

from pathlib import Path

from coherence.checking.unrendered_files import is_chart_template, patches
from coherence.checking.workspace import open_workspace

WEB = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 1}\n"


def skipped(folder: Path) -> dict[str, str]:
    return {str(Path(one.path).relative_to(folder)): one.kind for one in open_workspace([folder]).skipped}


def test_files_that_a_kustomization_names_as_patches_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "prod").mkdir()
    (tmp_path / "base/web.yaml").write_text(WEB)
    for name in ("more.yaml", "scaler.yaml", "old.yaml"):
        (tmp_path / "prod" / name).write_text(WEB.replace("replicas: 1", "replicas: 9"))
    (tmp_path / "prod/kustomization.yaml").write_text(
        "resources: [../base]\npatches: [{path: more.yaml}, {patch: 'x: 1'}]\n"
        "patchesStrategicMerge: [scaler.yaml, 'a: 1\n\n  b: 2']\npatchesJson6902: [{path: ./old.yaml}]\n"
    )
    assert {name: kind for name, kind in skipped(tmp_path).items() if "kustomization" not in name} == {
        "prod/more.yaml": "patch of Kustomize",
        "prod/scaler.yaml": "patch of Kustomize",
        "prod/old.yaml": "patch of Kustomize",
    }
    (entry,) = open_workspace([tmp_path]).entries
    assert set(entry.sources) == {str(tmp_path / "base/web.yaml")}
    assert open_workspace([tmp_path / "prod/more.yaml"]).entries  # named itself: it is meant


def test_a_broken_kustomization_names_no_patch(tmp_path: Path) -> None:
    path = tmp_path / "kustomization.yaml"
    path.write_text("patches: [{")
    assert patches([str(path), str(tmp_path / "none/kustomization.yaml")]) == set()
    path.write_text("patches: 7\npatchesStrategicMerge: [[a]]\n")
    assert patches([str(path)]) == set()


def test_a_file_of_a_chart_is_a_template_if_it_holds_an_action(tmp_path: Path) -> None:
    (tmp_path / "chart/templates/sub").mkdir(parents=True)
    (tmp_path / "chart/Chart.yaml").write_text("name: chart\n")
    for name, text in {"a.yaml": f"# {{{{ if .Values.on }}}}\n{WEB}", "sub/b.yaml": WEB.replace("web", "api")}.items():
        (tmp_path / "chart/templates" / name).write_text(text)
    assert skipped(tmp_path)["chart/templates/a.yaml"] == "template"
    assert "chart/templates/sub/b.yaml" not in skipped(tmp_path)
    assert is_chart_template(str(tmp_path / "chart/templates/a.yaml"))
    assert not is_chart_template(str(tmp_path / "templates/a.yaml"))
