"""HelmRelease: what waits for a release, and who writes the replicas of its workloads."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.design import Design
from tests.importers.test_argo_application import WORKLOAD
from tests.importers.value_texts import text

HEAD = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: shop, namespace: prod}\n"
OURS = WORKLOAD.replace(
    "name: web, namespace: prod}", "name: web, namespace: prod, annotations: {meta.helm.sh/release-name: shop}}", 1
)
DRIFT = "driftDetection: {mode: enabled}"
IGNORED = "driftDetection: {mode: enabled, ignore: [{paths: [/spec/replicas], target: {kind: Deployment}}]}"


def release(spec: str) -> str:
    return f"{HEAD}spec: {{interval: 10m{', ' if spec else ''}{spec}}}\n"


def read(spec: str, workload: str = OURS) -> Design:
    return importers.design_from_sources({"web.yaml": workload, "release.yaml": release(spec)})


@pytest.mark.parametrize(
    ("spec", "timers"),
    [
        ("", {"shop_install": "5 min"}),
        ("timeout: 15m", {"shop_install": "15 min"}),
        ("timeout: 15m, upgrade: {timeout: 30m}", {"shop_install": "15 min", "shop_upgrade": "30 min"}),
        ("install: {disableWait: true}, upgrade: {timeout: 1m}", {"shop_upgrade": "60 s"}),
        ("install: {disableWait: true}, upgrade: {disableWait: true}", {}),
        ("suspend: true", {}),
    ],
)
def test_each_step_waits_its_time(spec: str, timers: dict[str, str]) -> None:
    assert {name: text(timer.after) for name, timer in read(spec).timers.items()} == timers


@pytest.mark.parametrize(
    ("spec", "workload", "mode", "often"),
    [
        ("", OURS, "on change", ""),
        (DRIFT, OURS, "always", "10 min"),
        (DRIFT.replace("enabled", "warn"), OURS, "on change", ""),
        (IGNORED, OURS, "on change", ""),
        (DRIFT, WORKLOAD, "on change", ""),
        (f"releaseName: other, {DRIFT}", OURS, "on change", ""),
        (
            f"targetNamespace: prod, {DRIFT}",
            OURS.replace("release-name: shop", "release-name: prod-shop"),
            "always",
            "10 min",
        ),
        (f"targetNamespace: dev, {DRIFT}", OURS, "on change", ""),
    ],
)
def test_the_replicas_of_its_own_workloads_are_written_where_drift_is_corrected(
    spec: str, workload: str, mode: str, often: str
) -> None:
    writer = read(spec, workload).loops["web_apply"]
    assert writer.actuation is not None
    period = writer.timescale.period if writer.timescale is not None else None
    assert (text(writer.actuation.mode), str(getattr(period, "text", ""))) == (mode, often)


def test_an_interval_must_be_there_and_values_are_listed() -> None:
    assert any("values (what the chart makes of it" in words for _, words in read("values: {replicas: 2}").not_modelled)
    with pytest.raises(InputError, match=r"spec.interval is missing"):
        importers.design_from_sources({"release.yaml": HEAD + "spec: {timeout: 5m}\n"})


@pytest.mark.parametrize(("timeout", "conflict"), [("5m", True), ("30m", False)])
def test_a_model_that_loads_longer_than_the_release_waits_is_a_conflict(
    timeout: str, conflict: bool, tmp_path: Path
) -> None:
    (tmp_path / "release.yaml").write_text(release(f"timeout: {timeout}"))
    overlay = "coherence: 1\noverlays: manifests\ncomponents: {shop: {takes: {load: 8 min .. 12 min}}}\n"
    (tmp_path / "overlay.yaml").write_text(overlay)
    found = {f.code for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT}
    assert found == ({"COH207"} if conflict else set())
