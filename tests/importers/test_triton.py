"""Triton: instances, the wait of a batch and the policy of the queue, as limits, an activity and a timer."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.design import Design
from tests.importers.value_texts import text
from tests.paths import DATA

REAL = DATA / "manifests/triton"


def read(text: str, file: str = "models/bert/config.pbtxt") -> Design:
    return importers.design_from_sources({file: f'backend: "onnxruntime"\n{text}'})


@pytest.mark.parametrize(
    ("groups", "most", "per"),
    [
        ("instance_group { count: 2 kind: KIND_CPU }", "16", "replica"),
        ("instance_group [ { count: 2 kind: KIND_GPU } ]", "16", "gpu"),
        ("instance_group { kind: KIND_GPU gpus: [0, 1] }", "16", "replica"),
        ("instance_group [ { count: 1 gpus: 0 }, { count: 2 gpus: [1, 2] } ]", "40", "replica"),
    ],
)
def test_instances_run_so_many_requests_at_once(groups: str, most: str, per: str) -> None:
    (limit,) = read(f"max_batch_size: 8 {groups}").limits.values()
    assert (text(limit.counts), text(limit.at_most), text(limit.per), text(limit.when_full)) == (
        "bert.ongoing", most, per, "wait",
    )  # fmt: skip


def test_without_batches_an_instance_runs_one_request() -> None:
    (limit,) = read("instance_group { count: 3 kind: KIND_CPU }").limits.values()
    assert text(limit.at_most) == "3"


@pytest.mark.parametrize(
    "batching", ["", "dynamic_batching { }", "dynamic_batching { max_queue_delay_microseconds: 0 }"]
)
def test_what_does_not_wait_takes_no_time(batching: str) -> None:
    design = read(batching)
    assert not design.components["bert"].takes
    assert not any((design.timers, design.limits))


def test_a_batch_waits_and_a_queue_refuses() -> None:
    policy = "timeout_action: REJECT default_timeout_microseconds: 500000 max_queue_size: 50"
    design = read(f"dynamic_batching {{ max_queue_delay_microseconds: 200 default_queue_policy {{ {policy} }} }}")
    assert text((design.components["bert"].takes or {})["batch_wait"]) == "0 s .. 200 us"
    timer, limit = design.timers["bert_queue_timeout"], design.limits["bert_queue"]
    assert (text(timer.start), text(timer.after), text(timer.then)) == (
        "bert.queue starts", "500 ms", "reject bert.request",
    )  # fmt: skip
    assert (text(limit.counts), text(limit.at_most), text(limit.when_full)) == ("bert.waiting", "50", "reject")


def policy(action: str, timeout: int, delay: int) -> str:
    inner = f"timeout_action: {action} default_timeout_microseconds: {timeout}"
    return (
        f'backend: "python"\nmax_batch_size: 8\ndynamic_batching {{\n  max_queue_delay_microseconds: {delay}\n'
        f"  default_queue_policy {{\n    {inner}\n  }}\n}}\n"
    )


@pytest.mark.parametrize(
    ("action", "timeout", "delay", "conflict"),
    [
        ("REJECT", 100_000, 200_000, True),
        ("REJECT", 200_000, 200_000, True),
        ("REJECT", 300_000, 200_000, False),
        ("DELAY", 100_000, 200_000, False),
    ],
)
def test_a_timeout_within_the_wait_of_a_batch_refuses_every_lone_request(
    action: str, timeout: int, delay: int, conflict: bool, tmp_path: Path
) -> None:
    (tmp_path / "config.pbtxt").write_text(policy(action, timeout, delay))
    found = [f for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT]
    assert bool(found) is conflict
    if conflict:
        assert found[0].code == "COH207"
        assert {place.line for place in found[0].places} == {4, 6}


OVERLAY = """\
coherence: 1
overlays: manifests
components: {bert: {takes: {execute: 60 s .. 90 s}, roles: {batch_wait: answer, execute: answer}}}
calls: [{from: clients, to: bert, per_try: LIMIT, tries: 2}]
"""


@pytest.mark.parametrize(("limit", "conflict"), [("90 s", True), ("91 s", False)])
def test_a_deadline_of_a_caller_holds_the_wait_of_the_batch_too(limit: str, conflict: bool, tmp_path: Path) -> None:
    (tmp_path / "config.pbtxt").write_text(policy("REJECT", 10_000_000, 200_000) + 'name: "bert"\n')
    (tmp_path / "overlay.yaml").write_text(OVERLAY.replace("LIMIT", limit))
    found = {f.code for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT}
    assert ("COH201" in found) is conflict


@pytest.mark.parametrize(
    ("file", "name"), [("models/bert/config.pbtxt", "bert"), ("config.pbtxt", "config"), ("a/gpt.pbtxt", "gpt")]
)
def test_a_model_without_a_name_has_that_of_its_folder(file: str, name: str) -> None:
    assert set(read("", file).components) == {name}


def test_what_is_not_modelled_is_listed() -> None:
    listed = " ".join(
        words for _, words in read("sequence_batching { } dynamic_batching { preferred_batch_size: [4] }").not_modelled
    )
    assert "sequence_batching" in listed
    assert "preferred_batch_size" in listed


@pytest.mark.parametrize(
    "broken",
    ["max_batch_size: many", "instance_group { count: -1 }", "instance_group: 3", "dynamic_batching: [1]",
     "dynamic_batching { max_queue_delay_microseconds: 1.5 }", "instance_group { gpus { } } instance_group: 7"],
)  # fmt: skip
def test_a_wrong_value_is_refused_with_its_line(broken: str) -> None:
    with pytest.raises(InputError, match=r"config\.pbtxt:2"):
        read(broken)


@pytest.mark.parametrize("file", sorted(REAL.glob("*.pbtxt")), ids=lambda file: str(file.name))
def test_real_files_are_read_without_a_finding(file: Path) -> None:
    assert not [f for f in check(file).findings if f.verdict is Verdict.CONFLICT]


def test_another_message_of_that_syntax_is_listed_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "labels.pbtxt").write_text('item { id: 1 name: "cat" }\n')
    (tmp_path / "broken.pbtxt").write_text("item {\n")
    (tmp_path / "config.pbtxt").write_text('backend: "python"\ninstance_group { count: 2 kind: KIND_CPU }\n')
    assert sorted(Path(file.path).name for file in check(tmp_path).skipped) == ["broken.pbtxt", "labels.pbtxt"]
