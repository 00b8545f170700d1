"""What the columns of a table are, by their names."""

from __future__ import annotations

import pytest

from coherence.base.errors import InputError
from coherence.causal.telemetry.header import HeaderLayout, labelled, layout


def of(*header: str, time: str | None = None, long: bool | None = None) -> HeaderLayout:
    return layout("f.csv", header, time=time, long=long)


@pytest.mark.parametrize(
    ("header", "place"),
    [
        (("cpu", "time"), 1),
        (("Timestamp", "cpu"), 0),
        (("cpu", "@timestamp"), 1),
        (("cpu", "time (ms)"), 1),
        (("cpu", "ts_seconds"), 1),
        (("cpu", "date_time"), 1),
        (("t", "time"), 1),  # the plainer word first
        (("t_cold", "epoch"), 1),  # no unit
    ],
)
def test_the_time_is_known_by_its_name(header: tuple[str, ...], place: int) -> None:
    shape = of(*header)
    assert shape.time == place
    assert shape.form == "wide"
    assert shape.signals == {i: name for i, name in enumerate(header) if i != place}


def test_a_stated_column_is_the_time() -> None:
    assert of("time", "when", time="when").time == 1
    assert of("time", "when", time="when").signals == {0: "time"}


def test_a_column_of_names_and_one_of_values_make_a_long_table() -> None:
    shape = of("time", "metric", "value", "pod", "unit", "kind", "zone")
    assert (shape.form, shape.time, shape.signal, shape.level) == ("long", 0, 1, 2)
    assert shape.labels == {3: "pod", 6: "zone"}
    assert shape.facts == {"unit": 4, "kind": 5}
    assert of("time", "__name__", "val").signal == 1
    assert of("time", "name", "cpu").form == "wide"
    assert of("time", "signal", "value", long=False).form == "wide"


@pytest.mark.parametrize(
    ("header", "options", "message"),
    [
        (("cpu", "ram"), {}, "no column tells the time; the columns are 'cpu', 'ram'"),
        (tuple("abcdefg"), {}, "no column tells the time; the columns are 'a', 'b', 'c', 'd', 'e', 'f', ..."),
        (("time", "cpu"), {"time": "tme"}, "no column is called 'tme'"),
        (("time", "cpu", "cpu"), {}, "columns 2 and 3 are both called 'cpu'"),
        (("time", "", "cpu"), {}, "column 2 has no name"),
        (("time", "cpu"), {"long": True}, "a long table needs a column of the signal's name"),
        (("time", "name"), {"long": True}, "a long table needs a column of its value"),
    ],
)
def test_a_header_that_is_not_clear_is_refused(
    header: tuple[str, ...], options: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError) as error:
        layout("f.csv", header, **options)  # type: ignore[arg-type]
    assert [problem.message for problem in error.value.problems] == [message]


def test_a_time_without_a_name_may_be_stated() -> None:
    assert of("", "cpu", time="").time == 0


def test_labels_become_part_of_the_name() -> None:
    assert labelled("cpu", {}) == "cpu"
    assert labelled("cpu", {"pod": "b", "app": 'say "x"\\\n'}) == 'cpu{app="say \\"x\\"\\\\\\n",pod="b"}'
