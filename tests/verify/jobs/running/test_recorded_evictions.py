"""Recorded runs of a real descheduler beside designs: every eviction, placement and time, and what a change brings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coherence.base.errors import InputError, UsageError
from coherence.cli._run import run
from coherence.language.reading import read_text
from coherence.simulate.logs.member_events import episodes, member_events, owner_of
from coherence.verify.jobs.running.recorded_evictions import EpisodeAgreement, recorded_evictions, rendered
from tests.paths import DATA

RECORD = DATA / "k8s_failure_reproduction"
DUPLICATES = """coherence: 1
components:
  nginx_deployment: {copies: 4, needs: 2 cpu}
places:
  kind_worker: {cpu: 7}
  kind_worker2: {cpu: 2}
loops:
  remove_duplicates:
    timescale: {period: 10 s}
    trigger: count of nginx_deployment by node > 2
    actuation: {evict: nginx_deployment}
"""
SPREAD = """coherence: 1
components:
  nginx_deployment: {copies: 4}
places:
  kind_worker: {lifecycle: spot}
  kind_worker2: {lifecycle: spot}
  kind_worker3: {lifecycle: on_demand}
placement:
  nginx_deployment: [prefer on lifecycle spot, prefer spread by lifecycle <= 1]
loops:
  remove_violating:
    timescale: {period: 10 s}
    trigger: count of nginx_deployment by lifecycle > 2
    actuation: {evict: nginx_deployment}
"""
C5, C8 = RECORD / "C5", RECORD / "C8"


def laid(text: str, where: Path) -> tuple[EpisodeAgreement, ...]:
    (found,) = recorded_evictions(read_text(text, "d.yaml"), where)
    return found.episodes


@pytest.mark.parametrize(
    ("text", "folder", "evictions", "furthest"),
    [
        (DUPLICATES, "C5", (7,), 0),
        (DUPLICATES, "C5-min_scale", (7, 7), 0),
        (SPREAD, "C8", (13,), 1),
    ],
)
def test_what_a_real_descheduler_did_is_what_its_design_may_do(
    text: str, folder: str, evictions: tuple[int, ...], furthest: float
) -> None:
    """In one run of C5-min_scale a placement took 17 s: no eviction is expected at 10 s, and none was there."""
    found = laid(text, RECORD / folder)
    assert tuple(len(one.episode.evictions) for one in found) == evictions
    assert all(one.agrees and not one.others and not one.missed for one in found)
    assert max(max(one.errors) for one in found) == furthest


def test_a_descheduler_that_was_begun_anew_was_silent_meanwhile() -> None:
    """Three nodes with 2, 1 and 3 places, and two minutes in which no descheduler was there."""
    text = DUPLICATES.replace("copies: 4", "copies: 5").replace("places:\n", "places:\n  kind_worker3: {cpu: 2}\n")
    first, second = laid(text.replace("kind_worker2: {cpu: 2}", "kind_worker2: {cpu: 4}"), RECORD / "C5-log")
    assert (len(first.episode.evictions), first.others, first.missed) == (11, (), tuple(range(10, 120, 10)))
    assert not first.agrees
    assert (len(second.episode.evictions), second.agrees) == (7, True)


@pytest.mark.parametrize(
    ("text", "where", "old", "new", "what"),
    [
        (DUPLICATES, C5, "node > 2", "node > 3", "nobody evicts from kind-worker with kind_worker: 3"),
        (DUPLICATES, C5, "kind_worker: {cpu: 7}", "kind_worker: {cpu: 4}", "the placer does not choose kind-worker"),
        (DUPLICATES, C5, "places:\n", "placement: {nginx_deployment: [spread by node <= 1]}\nplaces:\n", "the placer"),
        (SPREAD, C8, "[prefer on lifecycle spot, ", "[only on lifecycle spot, ", "does not choose kind-worker3"),
        (SPREAD, C8, "prefer spread by lifecycle", "spread by lifecycle", "the placer does not choose"),
    ],
)
def test_what_another_design_would_not_do_is_told(text: str, where: Path, old: str, new: str, what: str) -> None:
    assert old in text
    (found,) = laid(text.replace(old, new), where)
    assert not found.agrees
    assert what in found.others[0]


@pytest.mark.parametrize(("period", "missed"), [("5 s", (5, 15, 25, 35, 45, 55)), ("10 s", ()), ("20 s", ())])
def test_times_are_those_of_the_period(period: str, missed: tuple[int, ...]) -> None:
    (found,) = laid(DUPLICATES.replace("10 s", period), C5)
    assert found.missed == missed
    assert found.agrees is (period == "10 s")  # at 20 s each was 10 s too soon


@pytest.mark.parametrize(
    "change",
    [
        ("{period: 10 s}", "{period: 10 s .. 20 s}"),
        ("node > 2", "node > 2 for 5 s"),
        ("    timescale: {period: 10 s}\n", ""),
    ],
)
def test_times_that_no_period_tells_are_not_compared(change: tuple[str, str]) -> None:
    (found,) = laid(DUPLICATES.replace(*change), C5)
    assert (found.period, found.missed, found.agrees) == (None, (), True)
    assert "not compared" in rendered(recorded_evictions(read_text(DUPLICATES.replace(*change)), C5)[0])


def test_nodes_alike_need_no_names() -> None:
    text = SPREAD.replace("kind_worker", "node").replace("remove_node", "remove_violating")
    (found,) = laid(text, C8)
    assert found.agrees


def test_an_eviction_that_is_not_in_the_log_is_missed(tmp_path: Path) -> None:
    (log,) = C5.iterdir()
    items = json.loads(log.read_text())["items"]
    evictions = [item for item in items if item["reason"] == "RemoveDuplicates"]
    gone = sorted(evictions, key=lambda item: item["eventTime"])[3]
    pod = gone["involvedObject"]["name"]
    kept = [i for i in items if i is not gone and not (i["reason"] == "Killing" and i["involvedObject"]["name"] == pod)]
    (tmp_path / "events.json").write_text(json.dumps({"items": kept}))
    (found,) = laid(DUPLICATES, tmp_path)
    assert 30 in found.missed


SECOND = "2024-01-13T23:00:{:02d}Z"


def logged(folder: Path, *happened: tuple[int, str, str]) -> Path:
    """Writes a log of events: (second, pod, node of its placement, or the reason) in the order in which it is given."""
    items = [
        {
            "involvedObject": {"kind": "Pod", "name": pod},
            "firstTimestamp": SECOND.format(second),
            "reason": what if what in {"Evicted", "Killing"} else "Scheduled",
            "message": "" if what in {"Evicted", "Killing"} else f"Successfully assigned default/{pod} to {what}",
        }
        for second, pod, what in happened
    ]
    path = folder / "events.json"
    path.write_text(json.dumps({"items": items}))
    return path


@pytest.mark.parametrize(
    ("happened", "changes"),
    [
        # placed and gone within a second: it stayed for ever
        ([(1, "db-0", "a"), (1, "db-0", "Evicted"), (1, "db-0", "Killing")], "PLACED EVICTED"),
        ([(1, "db-0", "Killing"), (1, "db-0", "a")], "PLACED ENDED"),
        # there before: the next of its name is placed after it has left
        ([(1, "db-0", "a"), (2, "db-0", "b"), (2, "db-0", "Evicted")], "PLACED EVICTED PLACED"),
        ([(1, "db-0", "a"), (2, "db-0", "b"), (2, "db-0", "Killing")], "PLACED ENDED PLACED"),
        # evicted before, and ended in the second of the next placement
        ([(1, "db-0", "a"), (2, "db-0", "Evicted"), (3, "db-0", "Killing"), (3, "db-0", "b")], "PLACED EVICTED PLACED"),
        # gone before, and the next one gone at once
        (
            [(1, "db-0", "a"), (2, "db-0", "Killing"), (3, "db-0", "Evicted"), (3, "db-0", "b")],
            "PLACED ENDED PLACED EVICTED",
        ),
        (
            [(1, "db-0", "a"), (2, "db-0", "Killing"), (2, "db-0", "Evicted"), (3, "db-0", "Evicted"),
             (3, "db-0", "b")],
            "PLACED EVICTED PLACED EVICTED",
        ),
        # others leave before it is placed, and it leaves after
        ([(1, "db-1", "a"), (2, "db-0", "a"), (2, "db-0", "Evicted"), (2, "db-1", "Evicted")],
         "PLACED EVICTED PLACED EVICTED"),
    ],
)  # fmt: skip
def test_the_order_within_a_second(happened: list[tuple[int, str, str]], changes: str, tmp_path: Path) -> None:
    for order in (happened, happened[::-1]):
        assert [event.change.name for event in member_events(logged(tmp_path, *order), "db")] == changes.split()


def test_the_reading_agrees_with_a_plain_count() -> None:
    for folder in ("C5", "C5-log", "C5-min_scale", "C8"):
        (log,) = (RECORD / folder).iterdir()
        items = json.loads(log.read_text())["items"]
        evicted = {i["involvedObject"]["name"] for i in items if i["reason"].startswith("Remove")}
        found = episodes(member_events(log, "nginx_deployment"))
        assert sorted(event.pod for one in found for event in one.evictions) == sorted(evicted)


@pytest.mark.parametrize(
    ("pod", "owner"),
    [
        ("web-6dccd8f6b9-bgmjb", "web"),
        ("my-web-6dccd8f6b9-bgmjb", "my-web"),
        ("db-0", "db"),
        ("kindnet-nprrs", "kindnet"),
    ],
)
def test_a_pod_has_the_name_of_its_owner(pod: str, owner: str) -> None:
    assert owner_of(pod) == owner


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="it has pods of: nginx-deployment"):
        laid(DUPLICATES.replace("nginx_deployment", "web"), C5)
    with pytest.raises(UsageError, match="it holds: none"):
        laid(DUPLICATES, tmp_path)
    with pytest.raises(InputError, match="needs one number of nginx_deployment"):
        laid(DUPLICATES.replace("copies: 4", "copies: 4 .. 5"), C5)
    with pytest.raises(InputError, match="triggers of its evictors"):
        laid(DUPLICATES.replace("count of nginx_deployment by node", "nginx_deployment.load"), C5)
    with pytest.raises(InputError, match="places for the 2 nodes of the log"):
        laid(DUPLICATES.replace("kind_worker2: {cpu: 2}", "").replace("kind_worker:", "node:"), C5)
    with pytest.raises(InputError, match="a place called kind-worker2, as the log calls a node"):
        laid(DUPLICATES.replace("kind_worker2:", "other:"), C5)
    (tmp_path / "events.log").write_text('{"items": []}')
    with pytest.raises(UsageError, match="it has pods of: none"):
        laid(DUPLICATES, tmp_path)


def test_the_command_says_what_it_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    design = tmp_path / "d.yaml"
    design.write_text(DUPLICATES)
    assert run(["simulate", str(design), "--observed", str(C5), "--strict"]) == 0
    assert "17 of 17 evictions and placements are steps of the design" in capsys.readouterr().out
    design.write_text(DUPLICATES.replace("node > 2", "node > 3"))
    assert run(["simulate", str(design), "--observed", str(C5)]) == 1
    out = capsys.readouterr().out
    assert "verdict    different" in out
    assert "and 4 more" in out


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ("a", "event 1: 'a' is no object"),
        ({"involvedObject": "x"}, "event 1: its involvedObject is no object"),
        ({"source": 3, "eventTime": "2024-01-13T23:00:26Z"}, "event 1: its source is no object"),
        ({"eventTime": "yesterday"}, "event 1: it has no time that can be read"),
        ({"firstTimestamp": 17}, "event 1: it has no time that can be read"),
    ],
)
def test_what_is_no_event_is_told(event: object, message: str, tmp_path: Path) -> None:
    (tmp_path / "events.json").write_text(json.dumps({"items": [event]}))
    with pytest.raises(InputError, match=message):
        laid(DUPLICATES, tmp_path)


@pytest.mark.parametrize("event", [{}, {"metadata": None, "involvedObject": None}, {"involvedObject": {"kind": "Pod"}}])
def test_an_event_of_nothing_is_left_out(event: object, tmp_path: Path) -> None:
    (log,) = C5.iterdir()
    (tmp_path / "events.json").write_text(json.dumps({"items": [event, *json.loads(log.read_text())["items"]]}))
    (found,) = laid(DUPLICATES, tmp_path)
    assert found.agrees


@pytest.mark.parametrize("text", ["[]", "5", '{"items": null}', '{"items": 5}', '{"items": {"a": 1}}', "[" * 100_000])
def test_what_holds_no_list_of_events_is_told(text: str, tmp_path: Path) -> None:
    (tmp_path / "events.json").write_text(text)
    with pytest.raises(InputError, match="no list of events"):
        laid(DUPLICATES, tmp_path)
