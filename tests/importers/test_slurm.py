"""Slurm: victims and their time, the window of backfill, what is listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Finding, Verdict
from coherence.importers.slurm import _seconds
from coherence.language.design import Design
from tests.paths import DATA

HEAD = "ClusterName=x\nSlurmctldHost=c\n"
PREEMPT = "PreemptType=preempt/partition_prio\nPreemptMode={mode}\n"
PARTITIONS = "PartitionName=prod Nodes=ALL PriorityTier=10\nPartitionName=low Nodes=ALL PriorityTier=1\n"
JOBS = """\
coherence: 1
overlays: manifests
components: {node: {count: 4}}
jobs:
  left:  {queue: low_partition, needs: 2 node, priority: 1, leaves_after: 0 s .. 30 s}
  right: {queue: low_partition, needs: 2 node, priority: 1, leaves_after: 0 s .. 30 s}
  large: {queue: prod_partition, needs: 4 node, priority: 1, leaves_after: 0 s .. 30 s}
"""


def read(text: str) -> Design:
    return importers.design_from_sources({"slurm.conf": HEAD + text})


def answers(folder: Path, text: str, overlay: str, code: str) -> list[Finding]:
    (folder / "slurm.conf").write_text(HEAD + text)
    (folder / "overlay.yaml").write_text(overlay)
    return [finding for finding in check(folder).findings if finding.code == code]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 5400), ("1:30", 90), ("1:30:00", 5400), ("7-00:00:00", 604800), ("1-2", 93600), ("x", None), ("", None)],
)
def test_times_of_partitions(text: str, seconds: int | None) -> None:
    assert _seconds(text, 60) == seconds


@pytest.mark.parametrize(
    ("scheduler", "maximum", "verdicts"),
    [
        ("", "7-00:00:00", [Verdict.CONFLICT]),  # backfill looks one day ahead
        ("", "1-00:00:00", [Verdict.PROVED]),
        ("", "INFINITE", []),
        ("SchedulerParameters=bf_interval=60,bf_window=10080\n", "7-00:00:00", [Verdict.PROVED]),
        ("SchedulerParameters=bf_window=10079\n", "7-00:00:00", [Verdict.CONFLICT]),
        ("SchedulerType=sched/builtin\n", "7-00:00:00", []),
    ],
)
def test_jobs_beyond_the_window_of_backfill_are_not_planned(
    scheduler: str, maximum: str, verdicts: list[Verdict], tmp_path: Path
) -> None:
    text = f"{scheduler}PartitionName=long Nodes=ALL MaxTime={maximum}\n"
    overlay = "coherence: 1\noverlays: manifests\n"
    assert [f.verdict for f in answers(tmp_path, text, overlay, "COH209")] == verdicts


VICTIM = "order: {victim: 'returns, reservation'}\n"


@pytest.mark.parametrize(
    ("mode", "more", "verdict"),
    [
        ("CANCEL", "", Verdict.PROVED),
        ("REQUEUE", "", Verdict.UNDECIDED),  # whether room is kept for the taker stands in no file
        ("REQUEUE", VICTIM, Verdict.PROVED),
        ("REQUEUE,GANG", VICTIM.replace("returns, reservation", "returns, no reservation"), Verdict.CONFLICT),
    ],
)
def test_victims_leave_or_come_back(mode: str, more: str, verdict: Verdict, tmp_path: Path) -> None:
    found = answers(tmp_path, PREEMPT.format(mode=mode) + PARTITIONS, JOBS + more, "COH225")
    assert [finding.verdict for finding in found] == [verdict]


def test_lines_of_default_hold_for_the_partitions_after_them() -> None:
    text = (
        "PartitionName=a\nPartitionName=DEFAULT MaxTime=60 PriorityTier=7\nPartitionName=b\nPartitionName=b Nodes=ALL\n"
    )
    components = read(text).components
    assert "a_partition" in components
    assert "job_time" not in components["a_partition"].constants
    assert str(components["b_partition"].constants["tier"]) == "7"
    assert "default_partition" not in components


@pytest.mark.parametrize(
    "text", [PREEMPT.format(mode="SUSPEND,GANG"), "PreemptType=preempt/qos\nPreemptMode=REQUEUE\n", ""]
)
def test_what_the_language_cannot_say_makes_no_order(text: str) -> None:
    design = read(text + PARTITIONS)
    assert design.order is None
    assert ("preempt" in "".join(words for _, words in design.not_modelled)) is bool(text)


@pytest.mark.parametrize(
    ("text", "thing", "after"),
    [
        ("KillWait=30\n", "job", "30 s"),
        ("", "job", "30 s"),
        ("PartitionName=a GraceTime=90 Nodes=ALL\n", "a_partition", "2 min"),
    ],
)
def test_a_save_has_its_time(text: str, thing: str, after: str) -> None:
    assert str(read(text).timers[f"{thing}_kill"].after) == after


@pytest.mark.parametrize(("save", "verdict"), [("20 s .. 60 s", Verdict.CONFLICT), ("5 s .. 20 s", Verdict.PROVED)])
def test_a_save_that_takes_longer_is_cut_off(save: str, verdict: Verdict, tmp_path: Path) -> None:
    overlay = f"coherence: 1\noverlays: manifests\ncomponents: {{job: {{takes: {{save: {save}}}}}}}\n"
    assert [f.verdict for f in answers(tmp_path, "KillWait=30\n", overlay, "COH207")] == [verdict]


@pytest.mark.parametrize("text", ["KillWait=soon", "PartitionName=a MaxTime=x", "PartitionName=a PriorityTier=-1"])
def test_wrong_values_are_refused_with_their_line(text: str) -> None:
    with pytest.raises(InputError, match=r"slurm\.conf:3"):
        read(text)


def test_devices_of_nodes_are_listed() -> None:
    design = importers.design_from_sources({"gres.conf": "AutoDetect=nvml\nName=gpu Type=nvidia\n"})
    assert not design.timers
    assert any("slurm.name" in words for _, words in design.not_modelled)


def test_an_untouched_file_gives_its_partitions_and_its_time_to_save() -> None:
    file = DATA / "manifests/slurm/slurm-docker-cluster-25.11-slurm.conf"
    design = importers.design_from_sources({str(file): file.read_text()})
    assert set(design.components) >= {"cpu_partition", "gpu_partition"}
    assert [(name, str(timer.after)) for name, timer in design.timers.items()] == [("job_kill", "30 s")]
