"""Telemetry: any float and any name survive files, bytes are the same, what is missing is counted."""

from __future__ import annotations

import math
import struct
import sys
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import InputError, MissingExtraError
from coherence.language.reading import read_text
from coherence.model.model import Model
from coherence.simulate.execute.exact import Choices, Execution
from coherence.simulate.telemetry.contract import (
    Gaps,
    LossCause,
    Signal,
    Telemetry,
    gaps,
    joined,
    of_instants,
    of_requests,
    telemetry,
)
from coherence.simulate.telemetry.files import read, stream, write

QUICK = settings(max_examples=60, deadline=None)
FORMS = [(wide, parquet) for wide in (False, True) for parquet in (False, True)]

LOAD = Signal("gateway.queue", "req", "gauge", "test")
SENT = Signal("gateway.tries", "req", "counter", "test")


def example() -> Telemetry:
    samples = {
        SENT: ([0.0, 1.0, 2.0], [0.0, 7.0, 15.0]),
        LOAD: ([0.0, 2.0], [math.inf, math.nan]),
    }
    return telemetry(samples, causes=[LossCause(2.0, "waiting", "rank 3", 0.1, "rank s")])


def bits(number: float) -> bytes:
    """Equality of floats to the bit, but for the one NaN."""
    return b"nan" if math.isnan(number) else struct.pack("<d", number)


def same(one: Telemetry, other: Telemetry) -> bool:
    def told(t: Telemetry) -> object:
        samples = {
            n: [(bits(a), bits(b)) for a, b in zip(s.times, s.values, strict=True)] for n, s in t.samples.items()
        }
        causes = [(bits(c.time), c.loss, c.cause, bits(c.amount), c.unit) for c in t.causes]
        return t.signals, samples, [bits(a) for a in t.grid], causes

    return told(one) == told(other)


# examples


def test_long_csv_is_what_a_person_expects(tmp_path: Path) -> None:
    table, signals, causes = write(example(), tmp_path)
    assert table.read_text().splitlines() == [
        "time,signal,value", "0.0,gateway.queue,inf", "0.0,gateway.tries,0.0", "1.0,gateway.tries,7.0",
        "2.0,gateway.queue,nan", "2.0,gateway.tries,15.0",
    ]  # fmt: skip
    assert signals.read_text().splitlines()[1:] == ["gateway.queue,req,gauge,test", "gateway.tries,req,counter,test"]
    assert causes.read_text().splitlines() == ["time,loss,cause,amount,unit", "2.0,waiting,rank 3,0.1,rank s"]


def test_wide_csv_leaves_a_missing_value_empty(tmp_path: Path) -> None:
    table, *_ = write(example(), tmp_path, wide=True)
    assert table.read_text().splitlines() == [
        "time,gateway.queue,gateway.tries", "0.0,inf,0.0", "1.0,,7.0", "2.0,nan,15.0"
    ]  # fmt: skip


@pytest.mark.parametrize(("wide", "parquet"), FORMS)
def test_missing_is_counted_and_not_filled(tmp_path: Path, wide: bool, parquet: bool) -> None:
    write(example(), tmp_path, wide=wide, parquet=parquet)
    back = read(tmp_path, wide=wide, parquet=parquet)
    assert gaps(back) == {"gateway.queue": Gaps(2, 1, 1), "gateway.tries": Gaps(3, 0, 0)}
    assert same(back, example())


@pytest.mark.parametrize(("wide", "parquet"), FORMS)
def test_a_time_without_any_value_is_kept(tmp_path: Path, wide: bool, parquet: bool) -> None:
    told = telemetry({SENT: ([1.0], [5.0]), LOAD: ([], [])}, grid=[0.0, 1.0, 3.0])
    write(told, tmp_path, wide=wide, parquet=parquet)
    back = read(tmp_path, wide=wide, parquet=parquet)
    assert same(back, told)
    assert gaps(back)["gateway.queue"] == Gaps(0, 0, 3)


def test_a_table_of_somebody_else(tmp_path: Path) -> None:
    (tmp_path / "telemetry.csv").write_text("host,value,time,signal\na,1,5,x\na,,6,x\nb,2e3,5,y\n")
    back = read(tmp_path)
    assert back.signals == (Signal("x"), Signal("y"))
    assert gaps(back) == {"x": Gaps(1, 0, 1), "y": Gaps(1, 0, 1)}


def test_rows_stream_in_the_order_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("time,signal,value\n9,b,1\n1,a,\n")
    assert list(stream(tmp_path / "t.csv")) == [(9.0, "b", 1.0), (1.0, "a", None)]
    (tmp_path / "w.csv").write_text("time,a,b\n1,,2\n")
    assert list(stream(tmp_path / "w.csv", wide=True)) == [(1.0, "a", None), (1.0, "b", 2.0)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "1:1: the file is empty"),
        ("time,signl,value\n", "the column 'signal' is missing\n  help: did you mean 'signl'?"),
        ("time,signal,value\n0,a,1\nsoon,a,1\n", "3:1: 'soon' is not a number"),
        ("time,signal,value\ninf,a,1\n", "2:1: 'inf' is not a time"),
        ("time,signal,value\n,a,1\n", "2:1: '' is not a time"),
        ("time,signal,value\n0,,1\n", "2:1: the name of the signal is missing"),
        ("time,signal,value\n0,a,many\n", "2:1: 'many' is not a number"),
        ("time,signal,value\n0,a\n", "2:1: 2 fields in a table of 3 columns"),
        ("time,signal,value\n0,a,1\n-0,a,2\n", "'a' has two values at 0.0 s"),
        ('time,signal,value\n0,"a', "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "telemetry.csv").write_text(text)
    with pytest.raises(InputError) as told:
        read(tmp_path)
    assert words in str(told.value)


def test_signals_of_no_kind_are_told_with_their_line(tmp_path: Path) -> None:
    write(example(), tmp_path)
    (tmp_path / "signals.csv").write_text("name,unit,kind,source\na,s,level,\n")
    with pytest.raises(InputError, match=r"signals.csv:2:1: kind\(=level\) of a must be counter or gauge"):
        read(tmp_path)
    (tmp_path / "telemetry_wide.csv").write_text("time,\n0,1\n")
    (tmp_path / "signals.csv").unlink()
    with pytest.raises(InputError, match=r"telemetry_wide.csv:1:1: a signal needs a name"):
        read(tmp_path, wide=True)


@pytest.mark.parametrize("parquet", [False, True])
def test_absent_and_broken_files_are_input_errors(tmp_path: Path, parquet: bool) -> None:
    with pytest.raises(InputError):
        read(tmp_path, parquet=parquet)
    (tmp_path / f"telemetry.{'parquet' if parquet else 'csv'}").write_bytes(b"\xff\xfe\x00rubbish")
    with pytest.raises(InputError):
        read(tmp_path, parquet=parquet)


def test_parquet_without_duckdb_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtraError, match=r"Parquet needs .* 'coherence-engine\[simulate\]'"):
        write(example(), tmp_path, parquet=True)


def test_names_that_differ_by_case_need_the_long_form(tmp_path: Path) -> None:
    told = telemetry({Signal("a"): ([0.0], [1.0]), Signal("A"): ([0.0], [2.0])})
    with pytest.raises(ValueError, match="cannot be a column of Parquet"):
        write(told, tmp_path, wide=True, parquet=True)
    write(told, tmp_path, parquet=True)
    assert same(read(tmp_path, parquet=True), told)


@pytest.mark.parametrize(
    ("samples", "words"),
    [
        ({Signal("a"): ([0.0, 0.0], [1.0, 2.0])}, "two values at 0.0 s"),
        ({Signal("a"): ([math.nan], [1.0])}, "not finite"),
        ({Signal("a"): ([0.0], [])}, "1 times and 0 values"),
        ({Signal("a"): ([], []), Signal("a", "s"): ([], [])}, "two signals are called 'a'"),
    ],
)
def test_telemetry_refuses_what_has_no_meaning(
    samples: dict[Signal, tuple[list[float], list[float]]], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        telemetry(samples)


@pytest.mark.parametrize(("name", "kind"), [("", "gauge"), ("\ud800", "gauge"), ("a", "level")])
def test_signals_refuse_what_has_no_meaning(name: str, kind: str) -> None:
    with pytest.raises(ValueError, match=r"a signal needs|surrogate|kind\(=level\)"):
        Signal(name, "1", kind)


# sources


def test_series_of_the_request_engine() -> None:
    series = {"time": np.array([0.0, 1.0]), "pool.queue": np.array([0, 3]), "a -> pool.tries": np.array([2, 9])}
    told = of_requests(series)
    assert told.signals == (
        Signal("a -> pool.tries", "req", "counter", "request engine"),
        Signal("pool.queue", "req", "gauge", "request engine"),
    )
    assert told["pool.queue"].values.tolist() == [0.0, 3.0]


def thermostat() -> Model:
    from coherence.model.elaborate import elaborate

    return elaborate(
        read_text(
            "coherence: 1\n"
            'components: {room: {state: "p\' = 0.5 * p + heater.on", step: 1 s, from: 0}}\n'
            "loops:\n"
            "  warm: {timescale: {period: 1 s}, trigger: room.p < 1.5, actuation: {signal: heater.on, law: set, to: 1,"
            " bounds: [0, 1], from: 0}}\n"
        )
    )


def test_instants_of_the_exact_executor() -> None:
    model = thermostat()
    run = Execution(model, Choices())
    instants = [run.advance() for _ in range(4)]
    told = of_instants(model, instants)
    assert [s.name for s in told.signals] == sorted(s.name for s in told.signals)
    assert told["room.p"].times.tolist() == [float(i.time) for i in instants]
    assert told["room.p"].values.tolist() == [float(Fraction(i.sampled["room.p"])) for i in instants]
    assert told["room.p"].values.tolist() == [0.0, 1.0, 1.5, 1.75]
    assert set(told["warm"].values.tolist()) <= {0.0, 1.0}


def test_two_sources_on_one_clock() -> None:
    one, two = telemetry({LOAD: ([0.0], [1.0])}), telemetry({SENT: ([0.5], [2.0])})
    both = joined(one, two)
    assert both.grid.tolist() == [0.0, 0.5]
    assert gaps(both)["gateway.queue"].missing == 1
    with pytest.raises(ValueError, match="two sources"):
        joined(one, one)


# laws


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("telemetry")


FLOATS = st.floats(allow_nan=True, allow_infinity=True)
TIMES = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(max_size=8)
NAMES = st.text(min_size=1, max_size=8)
COLUMNS = st.dictionaries(TIMES.map(lambda t: t + 0.0), FLOATS, max_size=6)
CAUSES = st.builds(LossCause, TIMES, TEXTS, TEXTS, FLOATS, TEXTS)


@st.composite
def any_telemetry(draw: st.DrawFn) -> Telemetry:
    names = draw(st.lists(NAMES, unique=True, min_size=1, max_size=4))
    kinds = st.sampled_from(["counter", "gauge"])
    samples = {}
    for name in names:
        column = draw(COLUMNS)
        samples[Signal(name, draw(TEXTS), draw(kinds), draw(TEXTS))] = (list(column), list(column.values()))
    return telemetry(samples, causes=draw(st.lists(CAUSES, max_size=3)), grid=draw(st.lists(TIMES, max_size=2)))


@given(any_telemetry(), st.booleans())
@QUICK
def test_csv_gives_back_every_float_and_every_name(folder: Path, told: Telemetry, wide: bool) -> None:
    write(told, folder, wide=wide)
    assert same(read(folder, wide=wide), told)


@given(any_telemetry())
@settings(max_examples=15, deadline=None)
def test_parquet_gives_back_every_float_and_every_name(folder: Path, told: Telemetry) -> None:
    write(told, folder, parquet=True)
    assert same(read(folder, parquet=True), told)


@pytest.mark.slow
@given(any_telemetry(), st.randoms(use_true_random=False))
@QUICK
def test_bytes_do_not_depend_on_the_order_of_making(folder: Path, told: Telemetry, random: Random) -> None:
    pairs = [(signal, (told[signal.name].times, told[signal.name].values)) for signal in told.signals]
    random.shuffle(pairs)
    again = telemetry(dict(pairs), causes=told.causes[::-1], grid=told.grid[::-1])
    for wide in (False, True):
        first = [path.read_bytes() for path in write(told, folder, wide=wide)]
        assert [path.read_bytes() for path in write(again, folder, wide=wide)] == first


@pytest.mark.parametrize("wide", [False, True])
def test_parquet_bytes_are_the_same_each_time(tmp_path: Path, wide: bool) -> None:
    made = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        made.append([path.read_bytes() for path in write(example(), tmp_path / name, wide=wide, parquet=True)])
    assert made[0] == made[1]


@given(any_telemetry())
@QUICK
def test_samples_and_gaps_make_the_grid(told: Telemetry) -> None:
    for gap in gaps(told).values():
        assert gap.samples + gap.missing == len(told.grid)
        assert 0 <= gap.not_a_number <= gap.samples
