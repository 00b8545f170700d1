"""Configuration of Kueue: the wait for pods, its defaults in each version, in a ConfigMap too; shares."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from tests.importers.kueue_manifests import job, not_modelled, queue, read

CONFIGURATION = "apiVersion: config.kueue.x-k8s.io/{version}\nkind: Configuration\n{text}\n"
TRAIN = queue("a") + job("train", "a", 2)


def times(version: str, text: str) -> list[str]:
    design = read(TRAIN + CONFIGURATION.format(version=version, text=text))
    return [str(timer.after) for timer in design.timers.values()]


@pytest.mark.parametrize(
    ("version", "text", "after"),
    [
        ("v1beta1", "waitForPodsReady: {enable: true}", ["5 min"]),
        ("v1beta1", "waitForPodsReady: {timeout: 1m}", []),
        ("v1beta2", "waitForPodsReady: {blockAdmission: true}", ["30 min"]),
        ("v1beta2", "waitForPodsReady: {timeout: 10m}", ["10 min"]),
        ("v1beta2", "health: {}", []),
    ],
)
def test_a_job_has_its_time_until_all_pods_are_ready(version: str, text: str, after: list[str]) -> None:
    assert times(version, text) == after


def test_a_configuration_in_a_config_map_is_read_with_its_lines() -> None:
    inner = textwrap.indent(CONFIGURATION.format(version="v1beta2", text="waitForPodsReady: {timeout: 10m}"), "    ")
    outer = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: kueue}}\ndata:\n  file.yaml: |\n{inner}"
    (timer,) = read(TRAIN + outer).timers.values()
    assert timer.after is not None
    assert (TRAIN + outer).splitlines()[timer.after.place.line - 1].strip() == "waitForPodsReady: {timeout: 10m}"


@pytest.mark.parametrize(
    ("load", "verdict"), [("20 min .. 40 min", Verdict.CONFLICT), ("1 min .. 9 min", Verdict.PROVED)]
)
def test_a_load_that_takes_longer_never_ends(load: str, verdict: Verdict, tmp_path: Path) -> None:
    configuration = CONFIGURATION.format(version="v1beta2", text="waitForPodsReady: {timeout: 10m}")
    (tmp_path / "a.yaml").write_text(TRAIN + configuration)
    overlay = f"coherence: 1\noverlays: manifests\ncomponents: {{train: {{takes: {{load: {load}}}}}}}\n"
    (tmp_path / "overlay.yaml").write_text(overlay)
    (finding,) = [f for f in check(tmp_path).findings if f.code == "COH207"]
    assert finding.verdict is verdict


@pytest.mark.parametrize("text", ["fairSharing: {}", "resources: {excludeResourcePrefixes: [example.com]}"])
def test_what_changes_the_order_or_the_needs_keeps_jobs_out(text: str) -> None:
    whole = TRAIN + CONFIGURATION.format(version="v1beta2", text=text)
    assert not read(whole).jobs
    assert "no job in a queue is modelled" in not_modelled(whole)


@pytest.mark.parametrize(("gate", "first"), [("true", "job.priority"), ("false", "job.age")])
def test_without_its_gate_queues_of_a_cohort_take_turns_by_age(gate: str, first: str) -> None:
    gates = CONFIGURATION.format(version="v1beta2", text=f"featureGates: {{PrioritySortingWithinCohort: {gate}}}")
    order = read(TRAIN + queue("b") + "---\n" + gates).order
    assert order is not None
    assert order.admit is not None
    assert order.admit.keys[-1].by.text == first
