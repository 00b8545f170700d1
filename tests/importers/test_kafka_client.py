"""Properties of clients of Kafka: tries of a producer within the delivery, deadlines of a consumer."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.design import Design
from tests.importers.test_hostile_manifests import problems
from tests.importers.value_texts import text

SERVER = "bootstrap.servers=localhost:9092\n"


def read(*lines: str) -> Design:
    return importers.design_from_sources({"app.properties": SERVER + "\n".join(lines) + "\n"})


@pytest.mark.parametrize(
    ("lines", "deadline", "each", "tries"),
    [
        (["acks=all"], "2 min", "30 s", "unlimited"),
        (["delivery.timeout.ms = 60000", "request.timeout.ms: 5000", "retries=3"], "60 s", "5 s", "4"),
        (["# delivery.timeout.ms=1", "! x", "retries 0", "retries=2147483647"], "2 min", "30 s", "unlimited"),
    ],
)
def test_a_producer_tries_within_its_delivery(lines: list[str], deadline: str, each: str, tries: str) -> None:
    (call,) = read(*lines).calls
    assert (text(call.deadline), text(call.per_try), text(call.tries[0])) == (deadline, each, tries)


def test_a_consumer_must_poll_and_be_heard_of() -> None:
    timers = read("max.poll.interval.ms=60000", "heartbeat.interval.ms=1000").timers
    assert text(timers["app_max_poll"].after) == "60 s"
    assert (text(timers["app_session"].after), text(timers["app_session"].renew)) == ("45 s", "1 s")
    assert timers["app_max_poll"].place.line == 2


@pytest.mark.parametrize(
    ("heartbeat", "session", "conflict"), [("3000", "45000", False), ("45000", "45000", True), ("60000", "45000", True)]
)
def test_heartbeats_that_come_after_the_session_are_a_conflict(
    heartbeat: str, session: str, conflict: bool, tmp_path: Path
) -> None:
    lines = f"{SERVER}session.timeout.ms={session}\nheartbeat.interval.ms={heartbeat}\n"
    (tmp_path / "app.properties").write_text(lines)
    found = {f.code for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT}
    assert found == ({"COH207"} if conflict else set())


OVERLAY = "coherence: 1\noverlays: manifests\ncomponents: {app: {takes: {process_batch: 10 s .. 400 s}}}\n"


@pytest.mark.parametrize(("poll", "conflict"), [("300000", True), ("600000", False)])
def test_a_batch_that_takes_longer_than_a_poll_may_is_worked_on_twice(
    poll: str, conflict: bool, tmp_path: Path
) -> None:
    (tmp_path / "app.properties").write_text(f"{SERVER}group.id=g\nmax.poll.interval.ms={poll}\n")
    (tmp_path / "overlay.yaml").write_text(OVERLAY)
    found = {f.code for f in check(tmp_path).findings if f.verdict is Verdict.CONFLICT}
    assert found == ({"COH207"} if conflict else set())


def test_passwords_are_not_shown_and_the_rest_is_listed() -> None:
    design = read("group.id=g", "sasl.jaas.config=x password=hunter22;", "isolation.level=read_committed")
    listed = " ".join(words for _, words in design.not_modelled)
    assert "isolation.level" in listed
    assert "hunter22" not in listed


def test_a_number_that_is_none_is_refused_with_its_line() -> None:
    with pytest.raises(InputError, match=r"app\.properties:2"):
        read("max.poll.interval.ms=soon")


def test_other_properties_are_listed_and_stop_nothing(tmp_path: Path) -> None:
    (tmp_path / "gradle.properties").write_text("org.gradle.jvmargs=-Xmx2g\n")
    (tmp_path / "app.properties").write_text(f"{SERVER}group.id=g\n")
    assert [Path(file.path).name for file in check(tmp_path).skipped] == ["gradle.properties"]


@given(st.text(alphabet="max.polinterv=s: #!\\0123456789\n", max_size=60))
def test_any_text_is_read_or_refused(lines: str) -> None:
    assert problems(f"{SERVER}group.id=g\n{lines}", "app.properties") >= 0
