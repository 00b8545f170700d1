"""Overlays: what manifests cannot say is joined with them by name, and contradicts nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: prod}
spec:
  replicas: 2
  template: {spec: {containers: [{name: a, livenessProbe: {httpGet: {path: /}}}]}}
"""
ROUTE = """\
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web, namespace: prod}
spec: {hosts: [web], http: [{route: [{destination: {host: web}}], timeout: 2s}]}
"""
OVERLAY = "coherence: 1\noverlays: manifests\n"


def read(overlay: str, *manifests: str) -> Design:
    files = {f"{number}.yaml": text for number, text in enumerate(manifests or (DEPLOYMENT,))}
    return importers.design_from_sources({**files, "overlay.yaml": OVERLAY + overlay})


def refused(overlay: str) -> str:
    with pytest.raises(InputError) as refusal:
        read(overlay)
    return str(refusal.value)


def test_a_load_time_decides_what_the_manifest_alone_leaves_open(tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(DEPLOYMENT)
    alone = [f.verdict for f in check(tmp_path).findings if f.code == "COH206"]  # a default promise, counted alone
    (tmp_path / "overlay.yaml").write_text(f"{OVERLAY}components: {{web: {{takes: {{load: 40 s .. 90 s}}}}}}\n")
    (finding,) = [f for f in check(tmp_path).findings if f.code == "COH206"]
    assert alone == []
    assert finding.verdict is Verdict.CONFLICT
    assert {Path(place.file).name for place in finding.places} == {"liveness_probe.yaml", "overlay.yaml", "web.yaml"}


def test_its_repaired_twin_is_proved(tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(DEPLOYMENT.replace("httpGet", "failureThreshold: 30, httpGet"))
    (tmp_path / "overlay.yaml").write_text(f"{OVERLAY}components: {{web: {{takes: {{load: 40 s .. 90 s}}}}}}\n")
    assert [f.verdict for f in check(tmp_path).findings if f.code == "COH206"] == [Verdict.PROVED]


def test_new_sections_things_and_promises_are_added() -> None:
    design = read(
        "workload: {users: {rate: 9 req/s}}\ncomponents: {db: {copies: 1}}\npromises: {up: always db.copies >= 1}\n"
    )
    assert set(design.components) == {"web", "db"}
    assert set(design.promises) == {"up"}
    assert set(design.workload) == {"users"}


def test_a_call_is_completed_by_its_ends_and_another_one_is_added() -> None:
    ends = "{from: clients, to: web, fails: {connect_failure: 1 s}}"
    calls = f"calls: [{ends}, {{from: web, to: db, deadline: 1 s}}]\ncomponents: {{db: {{}}}}\n"
    first, second = read(calls, DEPLOYMENT, ROUTE).calls
    assert isinstance(first.deadline, Quantity)
    assert (first.deadline.text, set(first.fails or ())) == ("2 s", {"connect_failure"})
    assert second.name == "web -> db"


def test_what_a_manifest_says_is_not_overruled() -> None:
    message = refused("components: {web: {copies: 5}}\n")
    assert "components.web.copies is '2' at 0.yaml:5:13: an overlay adds what manifests do not say" in message
    assert read("components: {web: {copies: 2}}\n").components["web"].copies is not None


def test_all_contradictions_are_told_at_once() -> None:
    message = refused("components: {web: {copies: 5}}\ntimers: {web_liveness: {then: ignore}}\n")
    assert message.count("an overlay adds") == 2


def test_people_may_be_told_more() -> None:
    assert str(read("system: shop\n").system) == "shop"


def test_an_overlay_alone_is_refused() -> None:
    with pytest.raises(InputError, match="laid over manifests, and none is given"):
        importers.design_from_sources({"overlay.yaml": OVERLAY})


def test_an_overlay_of_something_else_is_refused() -> None:
    with pytest.raises(InputError, match="overlays: helm"):
        importers.design_from_sources({"a.yaml": DEPLOYMENT, "b.yaml": "coherence: 1\noverlays: helm\n"})


def test_two_overlays_are_joined_and_read_anew_after_an_edit() -> None:
    first, second = OVERLAY + "components: {db: {takes: {load: 1 s}}}\n", OVERLAY + "components: {db: {copies: 3}}\n"
    files = {"a.yaml": DEPLOYMENT, "b.yaml": first, "c.yaml": second}
    for number in (3, 4):
        files["c.yaml"] = second.replace("3", str(number))
        copies = importers.design_from_sources(files).components["db"].copies
        assert copies is not None
        assert copies.text == str(number)
    assert importers.design_from_sources({**files, "c.yaml": OVERLAY}).components["db"].copies is None


@pytest.mark.parametrize(
    ("overlay", "message"),
    [
        ("components: [1]\n", "components is a list, a mapping expected"),
        ("components: {web: 3}\n", "components.web is a value, a mapping expected"),
        ("components: {web: {copies: [2]}}\n", "components.web.copies is a list, a value expected"),
    ],
)
def test_another_kind_of_value_than_a_manifest_makes_is_told_as_such(overlay: str, message: str) -> None:
    assert message in refused(overlay)
