"""Parts of several files on one clock: what is one signal, what are two, and how files are told apart."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from coherence.base.errors import InputError
from coherence.causal.telemetry.joining import joined, stems
from coherence.causal.telemetry.parts import TelemetryPart
from coherence.simulate.telemetry.contract import Origin, Samples, Signal

SINCE_1970 = 1_700_000_000.0


def part(file: str, *, start: float = 0.0, unit: str = "1", **signals: list[float]) -> TelemetryPart:
    columns = []
    for name, values in signals.items():
        times = start + np.arange(len(values), dtype=float)
        columns.append((Signal(name, unit, "gauge", ""), Samples(times, np.asarray(values, float))))
    grid = np.unique(np.concatenate([samples.times for _, samples in columns]))
    return TelemetryPart(tuple(columns), grid, Origin(file, "wide CSV", "", tuple(signals), len(grid), (), ()))


def test_one_file_keeps_its_names() -> None:
    whole = joined([part("a.csv", cpu=[1, 2], ram=[3, 4])])
    assert [(signal.name, signal.source) for signal in whole.signals] == [("cpu", "a.csv"), ("ram", "a.csv")]
    assert whole["cpu"].values.tolist() == [1, 2]


def test_files_that_follow_each_other_are_one_signal() -> None:
    whole = joined([part("b.csv", start=2, cpu=[3, 4]), part("a.csv", cpu=[1, 2])])
    assert [signal.name for signal in whole.signals] == ["cpu"]
    assert whole["cpu"].times.tolist() == [0, 1, 2, 3]
    assert whole["cpu"].values.tolist() == [1, 2, 3, 4]
    assert whole.grid.tolist() == [0, 1, 2, 3]


def test_files_that_agree_where_they_meet_are_one_signal() -> None:
    whole = joined([part("a.csv", cpu=[1, 2, 3]), part("b.csv", start=1, cpu=[2, 3, 4])])
    assert whole["cpu"].values.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("values", [[2, 9, 4], [2, 3.5, 4], [2, float("nan"), 4]])
def test_files_that_differ_where_they_meet_are_two_signals(values: list[float]) -> None:
    whole = joined([part("x/a.csv", cpu=[1, 2, 3]), part("x/b.csv", start=1, cpu=values)])
    assert [signal.name for signal in whole.signals] == ["a.cpu", "b.cpu"]
    told = [origin.notes for origin in whole.origins]
    assert told == [("1 name also in another file at the same times: called file.signal",)] * 2


def test_times_that_differ_where_files_meet_make_two_signals() -> None:
    shifted = part("b.csv", start=1.5, cpu=[2, 3])
    assert len(joined([part("a.csv", cpu=[1, 2, 3]), shifted]).signals) == 2


def test_other_units_make_two_signals_and_take_shared_names_along() -> None:
    one, two = part("a.csv", cpu=[1, 2], ram=[1, 2]), part("b.csv", start=5, unit="s", cpu=[1, 2], ram=[1, 2])
    assert [signal.name for signal in joined([one, two]).signals] == ["a.cpu", "a.ram", "b.cpu", "b.ram"]
    names = [
        signal.name for signal in joined([part("a.csv", cpu=[1, 2], own=[0, 1]), part("b.csv", cpu=[5, 6])]).signals
    ]
    assert names == ["a.cpu", "b.cpu", "own"]


def test_two_clocks_are_refused() -> None:
    with pytest.raises(InputError, match="seconds from a start"):
        joined([part("a.csv", start=SINCE_1970, cpu=[1, 2]), part("b.csv", ram=[1, 2])])
    both = [part("a.csv", start=SINCE_1970, cpu=[1, 2]), part("b.csv", start=SINCE_1970, ram=[1, 2])]
    assert len(joined(both).signals) == 2


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["a.csv", "b.csv"], ["a", "b"]),
        (["x/a.csv", "y/a.csv"], ["x.a", "y.a"]),
        (["x/1/a.csv", "y/1/a.csv"], ["x.1.a", "y.1.a"]),
        (["a.csv", "a.csv"], ["a.csv", "a.csv"]),
        ([], []),
    ],
)
def test_the_shortest_ends_of_paths_tell_files_apart(files: list[str], expected: list[str]) -> None:
    assert stems(files) == expected


def test_a_name_that_is_taken_is_quoted() -> None:
    one, two, own = part("a.csv", cpu=[1, 2]), part("b.csv", cpu=[5, 6]), part("c.csv", ram=[0, 0])
    ((signal, samples),) = own.columns
    taken = dataclasses.replace(own, columns=((dataclasses.replace(signal, name="a.cpu"), samples),))
    assert [signal.name for signal in joined([one, two, taken]).signals] == ["'a.cpu'", "a.cpu", "b.cpu"]
