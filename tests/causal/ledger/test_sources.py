"""Device-seconds from state signals and from interval logs: two readings of the same hours agree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from coherence.base.errors import InputError, UsageError
from coherence.causal.data.series import Series
from coherence.causal.ledger.capacity import capacity, fleet
from coherence.causal.ledger.log import Stay, read_log, times_of_log
from coherence.causal.ledger.loss_ledger import ledger
from coherence.causal.ledger.of_series import signals, times_of_series

TWO = fleet({"h100": 2, "a100": 1}, {"h100": {"chat": 10, "train": 4}, "a100": {"chat": 5, "train": 1}},
            {"chat": 1, "train": 1})  # fmt: skip


def series(**columns: list[float]) -> Series:
    names = tuple(name.replace("__", ".") for name in columns)
    return Series(names, np.array(list(columns.values()), float).T, 10.0)


FULL = {"h100__useful__chat": [2.0, 1, 0, 1], "h100__barrier": [0.0, 1, 2, 1], "a100__idle_slack": [1.0, 1, 1, 1]}


def test_signals_in_devices_become_device_seconds() -> None:
    found = times_of_series(TWO, series(**FULL), count=2)
    assert found.windows.tolist() == [20, 20]
    told = ledger(capacity(TWO), found)
    assert told["A"].seconds == 40
    assert told.effective == pytest.approx(40 * 10 * told.capacity.z[0] / 40)
    assert told["idle_slack"].seconds == 40


def test_one_class_may_leave_out_its_name() -> None:
    single = fleet({"h100": 2}, {"h100": {"chat": 10}}, {"chat": 1})
    assert {"h100.useful", "h100.useful.chat", "h100.work.chat", "h100.count"} <= set(signals(single))
    told = ledger(capacity(single), times_of_series(single, series(h100__useful=[2.0, 1], h100__gang=[0.0, 1])))
    assert told.effective == pytest.approx(15)


def test_counted_work_tells_what_was_slowed() -> None:
    single = fleet({"h100": 2}, {"h100": {"chat": 10}}, {"chat": 1})
    found = times_of_series(single, series(h100__useful=[2.0, 2], h100__work__chat=[16.0, 14]), count=1)
    assert ledger(capacity(single), found)["slowed"].seconds == pytest.approx(2 * 20 - 300 / 10)


def test_missing_values_shorten_the_window_and_are_told() -> None:
    found = times_of_series(TWO, series(**{**FULL, "h100__barrier": [0.0, np.nan, 2, 1]}), count=1)
    assert found.window == 30
    assert found.excluded[0].what == "1 of 4 times"
    assert "h100.barrier" in found.excluded[0].why
    ledger(capacity(TWO), found)


def test_a_state_without_a_signal_is_missing_or_unlabelled() -> None:
    part = series(h100__useful__chat=[2.0, 1, 0, 1], a100__idle_slack=[1.0, 1, 1, 1])
    with pytest.raises(InputError, match="40 missing"):
        ledger(capacity(TWO), times_of_series(TWO, part))
    rest = ledger(capacity(TWO), times_of_series(TWO, part, rest_unlabelled=True))
    assert rest["unlabelled"].seconds == 40


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({**FULL, "h100__barier": [0.0] * 4}, "did you mean 'h100.barrier'"),
        ({**FULL, "h100__gang": [0.0, 0, 1, 0]}, "states of h100 add up to 3 devices at 20 s"),
        ({**FULL, "h100__barrier": [0.0, -1, 2, 1]}, "h100.barrier = -1.0 at 10 s"),
        ({**FULL, "h100__barrier": [0.0, np.inf, 2, 1]}, "h100.barrier = inf at 10 s"),
        ({**FULL, "h100__count": [2.0, 2, 3, 3]}, "h100.count = 3 at 20 s, and the fleet has 2"),
        ({"load": [1.0, 2]}, "no signal is the state of a device"),
        ({**FULL, "h100__barrier": [np.nan] * 4}, "no time has a value of every state signal"),
    ],
)
def test_bad_series(columns: dict[str, list[float]], words: str) -> None:
    with pytest.raises(InputError) as caught:
        times_of_series(TWO, series(**columns))
    assert words in str(caught.value)


# -- interval logs ---------------------------------------------------------------------------------


def test_overlaps_go_to_the_first_in_precedence() -> None:
    log = [
        Stay("h100/0", "hidden", "", 0, 100),
        Stay("h100/0", "useful", "chat", 10, 60),
        Stay("h100/0", "barrier", "", 50, 70),
        Stay("h100/0", "timed_out", "", 65, 80),
        Stay("h100/1", "idle_slack", "", 0, 100),
        Stay("h100/1", "useful", "train", 20, 30),
        Stay("a100", "idle_stranded", "", 0, 90),
    ]
    told = ledger(capacity(TWO), times_of_log(TWO, log))
    seconds = {line.name: line.seconds for line in told.states if line.seconds}
    assert seconds == pytest.approx(
        {"hidden": 30, "barrier": 15, "timed_out": 15, "idle_slack": 90, "idle_stranded": 90, "unlabelled": 10}
    )
    assert told.totals["useful"] == pytest.approx(400 * told.capacity.z[0] + 40 * told.capacity.z[1])


def test_overlaps_are_told() -> None:
    log = [
        Stay("h100/0", "useful", "chat", 0, 60),
        Stay("h100/0", "barrier", "", 50, 70),
        Stay("h100/0", "swap", "", 55, 100),
        Stay("h100/1", "swap", "", 0, 90),
        Stay("a100", "swap", "", 90, 100),
    ]
    found = times_of_log(TWO, log, start=0, end=100).excluded
    assert [one.what for one in found] == ["25 device-seconds in a further state"]
    assert not times_of_log(TWO, [log[0], *log[3:]], start=0, end=100).excluded


def test_devices_that_are_never_named_are_unlabelled_and_told() -> None:
    found = times_of_log(TWO, [Stay("h100/0", "barrier", "", 0, 50)], end=100)
    told = ledger(capacity(TWO), found)
    assert told["unlabelled"].seconds == 50 + 100 + 100
    assert [one.what for one in found.excluded] == ["1 of 2 h100", "1 of 1 a100"]


def test_painting_agrees_with_a_grid() -> None:
    """Random overlaps in whole seconds, against a device looked at second by second."""
    random = np.random.default_rng(4)
    states = ["hidden", "barrier", "timed_out", "swap", "idle_slack"]
    log = []
    for unit in range(2):
        for _ in range(60):
            start = int(random.integers(0, 290))
            end = start + int(random.integers(0, 30))
            log.append(Stay(f"h100/{unit}", states[int(random.integers(5))], "", start, end))
    found = times_of_log(TWO, log, start=0, end=300, count=7)
    grid: dict[str, int] = {}
    for unit in range(2):
        for second in range(300):
            there = [one.state for one in log if one.device == f"h100/{unit}" and one.start <= second < one.end]
            first = min(there, key=found.labels.index, default="unlabelled")
            grid[first] = grid.get(first, 0) + 1
    totals = found.seconds.sum(axis=0)[0]
    assert {found.labels[i]: t for i, t in enumerate(totals) if t} == pytest.approx(grid)


def test_a_log_and_its_series_tell_the_same() -> None:
    log = [Stay("h100/0", "useful", "chat", 0, 20), Stay("h100/0", "barrier", "", 20, 30),
           Stay("h100/0", "useful", "chat", 30, 40), Stay("h100/1", "useful", "chat", 0, 10),
           Stay("h100/1", "barrier", "", 10, 40), Stay("a100/x", "idle_slack", "", 0, 40)]  # fmt: skip
    one = ledger(capacity(TWO), times_of_log(TWO, log, count=2))
    other = ledger(capacity(TWO), times_of_series(TWO, series(**FULL), count=2))
    for line in one.states:
        assert line.amount == pytest.approx(other[line.name].amount)
        assert line.shares["held"].estimate.error == pytest.approx(other[line.name].shares["held"].estimate.error)


def test_a_file_of_intervals(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("device,state,class,start,end\nh100/0,useful,chat,0,10\nh100/1,barrier,,0,1e1\n")
    stays = read_log(file)
    assert stays == (Stay("h100/0", "useful", "chat", 0, 10, 2), Stay("h100/1", "barrier", "", 0, 10, 3))
    file.write_text("device,state,class,start,end\nh100/0,useful,chat,zero,10\nh100/1,barrier,,0\n")
    with pytest.raises(InputError) as caught:
        read_log(file)
    assert "log.csv:2:1: start = 'zero'" in str(caught.value)
    assert "log.csv:3:1: end = ''" in str(caught.value)
    file.write_text("device,state\nh100,gang\n")
    with pytest.raises(InputError, match="class, start, end are missing"):
        read_log(file)
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-16"):
        read_log(file)
    file.write_text("")
    with pytest.raises(InputError, match="the file is empty"):
        read_log(file)
    file.write_text("device,state,class,start,end\n")
    with pytest.raises(InputError, match="no interval"):
        read_log(file)


def test_every_problem_of_a_log_at_once() -> None:
    log = [
        Stay("h10/0", "barrier", "", 0, 1, 2),
        Stay("h100/0", "barier", "", 0, 1, 3),
        Stay("h100/0", "useful", "chatt", 0, 1, 4),
        Stay("h100/0", "useful", "", 0, 1, 5),
        Stay("h100/0", "gang", "", 2, 1, 6),
        Stay("h100/0", "gang", "", 0, float("inf"), 7),
        Stay("a100/0", "gang", "", 0, 1, 8),
        Stay("a100/1", "gang", "", 0, 1, 9),
    ]
    with pytest.raises(InputError) as caught:
        times_of_log(TWO, log, source="log.csv")
    text = str(caught.value)
    for words in ("log.csv:2", "did you mean 'barrier'", "did you mean 'chat'", "unknown class ''", "log.csv:6",
                  "log.csv:7", "2 devices of a100, and the fleet has 1"):  # fmt: skip
        assert words in text
    with pytest.raises(UsageError, match="window"):
        times_of_log(TWO, [], start=0, end=0)
