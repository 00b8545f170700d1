"""Gangs in queues of Volcano: what never starts, who holds a part, what is listed."""

from __future__ import annotations

import pytest

from coherence.findings.finding import Verdict
from tests.importers.kueue_manifests import findings, not_modelled, read
from tests.importers.volcano_manifests import configuration, job, queue


def verdicts(text: str, code: str) -> list[Verdict]:
    return [finding.verdict for finding in findings(text, code)]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (job("train", (4, 1)), Verdict.PROVED),
        (job("train", (6, 1)), Verdict.CONFLICT),
        (job("train", (6, 1), least=5), Verdict.PROVED),
        (job("train", (2, 3)), Verdict.CONFLICT),
    ],
)
def test_a_gang_that_needs_more_than_its_queue_may_use_never_starts(text: str, verdict: Verdict) -> None:
    assert verdicts(queue() + text, "COH228") == [verdict]


@pytest.mark.parametrize(("tasks", "fits"), [(((1, 2), (3, 1)), True), (((1, 2), (4, 1)), False)])
def test_pods_of_several_tasks_need_what_they_request_together(
    tasks: tuple[tuple[int, int], ...], *, fits: bool
) -> None:
    assert (Verdict.CONFLICT not in verdicts(queue() + job("train", *tasks), "COH211")) is fits


@pytest.mark.parametrize(
    ("plugins", "verdict"), [(("priority", "gang"), Verdict.PROVED), (("priority", "proportion"), Verdict.CONFLICT)]
)
def test_without_a_gang_two_jobs_may_each_hold_a_part(plugins: tuple[str, ...], verdict: Verdict) -> None:
    text = queue() + job("one", (4, 1)) + job("two", (4, 1)) + configuration(*plugins)
    assert verdicts(text, "COH228") == [verdict]


def test_nodes_may_have_less_than_the_capability_where_pods_come_one_by_one() -> None:
    """4 and 2 pods never stand still with 5 cpu, and do with 4."""
    text = queue() + job("one", (4, 1)) + job("two", (2, 1)) + configuration("priority")
    assert (
        str(read(text).components["cpu_of_q"].constants.get("count") or read(text).components["cpu_of_q"].count)
        == "4 .. 5"
    )
    assert verdicts(text, "COH228") == [Verdict.CONFLICT]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (queue("weight: 1") + job("train", (4, 1)), "its queue has no capability"),
        (job("train", (4, 1)), "its queue is not in these manifests"),
        (queue("capability: {cpu: 5}, parent: company") + job("train", (4, 1)), "queues within queues share"),
        (queue() + job("train", (4, 1), (1, 1)) + configuration("priority"), "of several kinds one by one"),
        (queue() + job("train", (4, 1), (1, 1), least=3), "which pods of several tasks start together"),
    ],
)
def test_what_is_not_known_keeps_a_gang_out(text: str, why: str) -> None:
    assert not read(text).jobs
    assert why in not_modelled(text)
