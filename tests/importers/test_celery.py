"""Settings of Celery: read as text, by their names of today and of before; when a task comes back."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.design import Design

FILE = "celeryconfig.py"
LATE = "task_acks_late = True\n"


def read(text: str) -> Design:
    return importers.design_from_sources({FILE: text})


def times(text: str) -> list[str]:
    return [str(timer.after) for timer in read(text).timers.values()]


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (LATE + "broker_transport_options = {'visibility_timeout': 300}", ["5 min"]),
        (LATE + "broker_url = 'redis://h'\nbroker_transport_options = {'visibility_timeout': V}", []),
        (LATE + "broker_transport_options = {'visibility_timeout': 60 * 60 * 12 + 1}", ["43201 s"]),
        (LATE + "broker_url = 'redis://h:6379/0'", ["3600 s"]),
        (LATE + "broker_url = 'sqs://'", ["1800 s"]),
        (LATE + "broker_url = 'amqp://h'", []),
        ("CELERY_ACKS_LATE = True\nBROKER_TRANSPORT_OPTIONS = {'visibility_timeout': 9}", ["9 s"]),
        ("task_acks_late = False\nbroker_transport_options = {'visibility_timeout': 300}", []),
        ("broker_transport_options = {'visibility_timeout': 300}", []),
    ],
)
def test_a_task_that_is_acknowledged_at_its_end_comes_back(text: str, after: list[str]) -> None:
    assert times(text) == after


@pytest.mark.parametrize(("limit", "verdict"), [("7200", Verdict.CONFLICT), ("1800", Verdict.PROVED)])
def test_it_comes_back_within_its_time_limit_or_after_it(limit: str, verdict: Verdict, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(f"broker_url = 'redis://h'\n{LATE}task_time_limit = {limit}\n")
    assert {finding.verdict for finding in check(tmp_path).findings} == {verdict}


def test_nothing_is_executed_and_what_is_computed_is_listed() -> None:
    design = read("import os\ntask_time_limit = int(os.environ['LIMIT'])\nworker_concurrency = 4\nos.abort()\n")
    assert any("task_time_limit (known at run time)" in words for _, words in design.not_modelled)
    (limit,) = design.limits.values()
    assert str(limit.at_most) == "4"


def test_what_is_no_python_is_refused_with_its_line() -> None:
    with pytest.raises(InputError, match=r"celeryconfig\.py:2"):
        read("a = 1\nb = (\n")


@given(st.text(alphabet="task_ielm=1*+'{}:\\n #()[]", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(InputError):
        assert read(f"{LATE}{text}").components
