"""Training in pods: members that meet, a save that others wait for, the monitor of the watchdog."""

from __future__ import annotations

import json
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
spec: {{template: {{spec: {{containers: [{{name: c, {container}}}]}}}}}}
"""
ELASTIC = ["torchrun", "--nnodes=2:4", "--rdzv-backend=c10d"]
TIMES = [("5 min .. 20 min", Verdict.CONFLICT), ("1 min .. 5 min", Verdict.PROVED)]
BEAT = "{name: TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC, value: '240'}"
GPU = "resources: {limits: {nvidia.com/gpu: 8}}"


def text(words: list[str], *more: str) -> str:
    return JOB.format(container=", ".join((f"command: {json.dumps(words)}", *more)))


def read(words: list[str], *more: str) -> Design:
    return importers.design_from_sources({"job.yaml": text(words, *more)})


@pytest.mark.parametrize(
    ("words", "after"),
    [
        (ELASTIC, ["600 s"]),
        ([*ELASTIC, "--rdzv_conf", "join_timeout=120,last_call_timeout=5"], ["2 min"]),
        (["torchrun", "--nnodes=2", "train.py"], ["900 s"]),  # static: 900 s
        (["torchrun", "--nnodes=2", "--rdzv-conf=timeout=60"], ["60 s"]),
        (["torchrun", "--standalone", "train.py"], []),
        (["python", "-m", "torch.distributed.run", "--nnodes=2"], ["900 s"]),
        (["bash", "-c", "exec torchrun --nnodes=2 \\\n --rdzv-backend=c10d train.py"], ["600 s"]),
        (["python", "train.py", "--nnodes=2"], []),
    ],
)
def test_members_wait_for_each_other_so_long(words: list[str], after: list[str]) -> None:
    assert [str(timer.after) for timer in read(words).timers.values()] == after


@pytest.mark.parametrize(
    ("meeting", "verdict"), [("5 min .. 20 min", Verdict.CONFLICT), ("1 min .. 5 min", Verdict.PROVED)]
)
def test_a_member_that_comes_late_ends_all(meeting: str, verdict: Verdict, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(text(ELASTIC))
    overlay = f"coherence: 1\noverlays: manifests\ncomponents: {{train: {{takes: {{rendezvous: {meeting}}}}}}}\n"
    (tmp_path / "overlay.yaml").write_text(overlay)
    assert {f.verdict for f in check(tmp_path).findings if f.code == "COH207"} == {verdict}


@pytest.mark.parametrize(
    ("save", "verdict"), [("5 min .. 20 min", Verdict.CONFLICT), ("1 min .. 5 min", Verdict.PROVED)]
)
def test_a_save_for_which_others_wait_in_a_collective_is_aborted(save: str, verdict: Verdict, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(text(["torchrun", "train.py"], GPU))
    overlay = f"coherence: 1\noverlays: manifests\ncomponents: {{train: {{takes: {{checkpoint: {save}}}}}}}\n"
    (tmp_path / "overlay.yaml").write_text(overlay)
    assert {f.verdict for f in check(tmp_path).findings if f.code == "COH207"} == {verdict}


@pytest.mark.parametrize(
    ("env", "after"),
    [
        (BEAT, "4 min .. 482 s"),
        (f"{BEAT}, {{name: TORCH_NCCL_ENABLE_MONITORING, value: '0'}}", None),
        ("{name: OTHER, value: '240'}", None),
    ],
)
def test_the_monitor_of_the_watchdog_has_the_time_of_the_environment(env: str, after: str | None) -> None:
    timers = read(["torchrun", "train.py"], GPU, f"env: [{env}]").timers
    assert (str(timers["train_heartbeat"].after) if "train_heartbeat" in timers else None) == after


def test_without_accelerators_there_is_no_watchdog_of_them() -> None:
    assert not read(["torchrun", "train.py"]).timers


def test_a_time_that_is_no_number_is_refused() -> None:
    with pytest.raises(InputError, match="join_timeout is no number"):
        read([*ELASTIC, "--rdzv-conf=join_timeout=soon"])
