"""Units: exact factors, dimensions that add or do not, and texts that read back as they were shown."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coherence.base import units
from coherence.base.number_text import render_decimal, render_quantity, render_seconds
from coherence.base.units import COUNTERS, ONE, SECOND, UNITS, Dimension, UnitError

Q = units.quantity
WATT = Dimension((("W", 1),))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("500 ms", Fraction(1, 2)),
        ("500ms", Fraction(1, 2)),
        ("1.5 h", 5400),
        ("2 min", 120),
        ("1 d", 86400),
        ("3 us", Fraction(3, 10**6)),
        ("3 µs", Fraction(3, 10**6)),
        ("7 ns", Fraction(7, 10**9)),
        ("-5 s", -5),
        ("+5 s", 5),
        ("1e-3 s", Fraction(1, 1000)),
        ("1_000 s", 1000),
    ],
)
def test_durations_are_exact_seconds(text: str, value: Fraction) -> None:
    assert Q(text) == (value, SECOND)


@pytest.mark.parametrize(
    ("text", "value", "dimension"),
    [
        ("25 %", Fraction(1, 4), "a bare number"),
        ("64", 64, "a bare number"),
        ("10 kW", 10_000, "W"),
        ("1 kWh", 3_600_000, "W*s"),
        ("1 J", 1, "W*s"),
        ("1 KiB", 1024, "B"),
        ("1 GiB", 1024**3, "B"),
        ("1 kB", 1000, "B"),
        ("8 bit", 1, "B"),
        ("400 Gbit/s", 50_000_000_000, "B/s"),
        ("25 req/s", 25, "req/s"),
        ("60 req/min", 1, "req/s"),
        ("3 replicas", 3, "replica"),
        ("2 kHz", 2000, "1/s"),
        ("5 TFLOP/s", 5 * 10**12, "1/s"),
        ("0.1 usd/h", Fraction(1, 36000), "usd/s"),
        ("2 usd/Mtoken", Fraction(2, 10**6), "usd/token"),
        ("3 ktokens", 3000, "token"),
        ("85 C", 85, "C"),
        ("3 token/req", 3, "token/req"),
        ("2 W*h", 7200, "W*s"),
    ],
)
def test_units_of_every_kind(text: str, value: Fraction, dimension: str) -> None:
    found, of = Q(text)
    assert found == value
    assert str(of) == dimension


@pytest.mark.parametrize(
    ("text", "words", "remedy"),
    [
        ("5 secs", "unknown unit 'secs'", "write 5 s"),
        ("4 /s", "is not a number with a unit", "write 4 req/s"),
        ("4 requests per second", "is not a number with a unit", "write 4 req/s"),
        ("4 rps", "unknown unit 'rps'", "write 4 req/s"),
        ("4 Gbps", "unknown unit 'Gbps'", "write 4 Gbit/s"),
        ("16 Gi", "unknown unit 'Gi'", "write 16 GiB"),
        ("$2.50 per hour", "is not a number with a unit", "write 2.50 usd/h"),
        ("1,000 req/s", "is not a number with a unit", "write 1000 req/s"),
        ("1h30m", "is not a number with a unit", "write 90 min"),
        ("40 °C", "is not a number with a unit", "write 40 C"),
        ("4 KB", "unknown unit 'KB'", "did you mean 'kB'"),
        ("500m", "unknown unit 'm'", "write 500 min for minutes"),
        ("5 Ms", "unknown unit 'Ms'", "did you mean"),
        ("10 kw", "unknown unit 'kw'", "did you mean"),
        ("5 s/", "is not a number with a unit", "500 ms"),
        ("five", "is not a number with a unit", "500 ms"),
        ("", "is not a number with a unit", "500 ms"),
        ("5 s 3 ms", "is not a number with a unit", "500 ms"),
        ("1e5000 s", "is not a number with a unit", "500 ms"),
        ("1e999999999", "is not a number with a unit", "500 ms"),
        ("9" * 5000, "is not a number with a unit", "500 ms"),
        (".inf", "is not a number with a unit", "500 ms"),
        ("nan", "is not a number with a unit", "500 ms"),
        ("٣ s", "is not a number with a unit", "500 ms"),
    ],
)
def test_what_is_no_quantity_says_so_at_once_and_gives_an_example(text: str, words: str, remedy: str) -> None:
    start = time.thread_time()
    with pytest.raises(UnitError, match=words) as raised:
        Q(text)
    assert remedy in raised.value.remedy
    assert len(str(raised.value)) < 120
    assert time.thread_time() - start < 2


@pytest.mark.parametrize(
    ("text", "value"),
    [("300ms", Fraction(3, 10)), ("1m30s", 90), ("168h0m0s", 604800), ("2.000s", 2), ("1.5h", 5400)],
)
def test_go_durations(text: str, value: Fraction) -> None:
    assert units.go_duration(text) == value


@pytest.mark.parametrize("text", ["", "5", "s", "1 m", "-3s", "1d", "3s!", "1e3s"])
def test_what_is_no_go_duration(text: str) -> None:
    with pytest.raises(UnitError, match="is not a duration"):
        units.go_duration(text)


def test_counters_agree_unless_one_side_is_bare() -> None:
    req, token, bare = Q("1 req")[1], Q("1 token")[1], ONE
    assert req.fits(req)
    assert req.fits(bare)
    assert bare.fits(token)
    assert not req.fits(token)
    assert not Q("1 req/s")[1].fits(Q("1 req")[1])
    assert Q("1 req/s")[1].fits(Q("1 Hz")[1])
    assert not SECOND.fits(WATT)


def test_dimensions_multiply_and_cancel() -> None:
    assert SECOND / SECOND == ONE
    assert str(WATT * SECOND / SECOND / SECOND) == "W/s"
    assert str(ONE / SECOND) == "1/s"
    assert Q("5 req/s")[1] * SECOND == Q("1 req")[1]
    assert Q("1 req/s")[1].physical == ONE / SECOND
    assert Q("1 req/s")[1].tags == Q("1 req")[1]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(0), "0 s"),
        (Fraction(1, 4), "250 ms"),
        (Fraction(1, 10**5), "10 us"),
        (Fraction(90), "90 s"),
        (Fraction(150), "2.5 min"),
        (Fraction(7200), "2 h"),
        (Fraction(172800), "2 d"),
        (Fraction(1201, 10), "120.1 s"),
        (Fraction(-3), "-3 s"),
    ],
)
def test_durations_are_shown_as_a_person_writes_them(value: Fraction, text: str) -> None:
    assert render_seconds(value) == text


def test_other_quantities_are_shown_with_prefixes() -> None:
    assert render_quantity(Fraction(10_000), WATT) == "10 kW"
    assert render_quantity(Fraction(1536), Dimension((("B", 1),))) == "1.5 KiB"
    assert render_quantity(Fraction(1, 3)) == "0.3333333"
    assert render_quantity(Fraction(25), Q("1 req/s")[1]) == "25 req/s"


def test_astronomical_numbers_are_shown_without_writing_them_out() -> None:
    assert render_decimal(Fraction(10**5000)) == "inf"
    assert render_decimal(Fraction(-(10**5000))) == "-inf"
    assert render_decimal(Fraction(10**20)) == "1e+20"
    assert render_decimal(Fraction(1, 10**5000)) == "0"
    assert render_seconds(Fraction(10**5000))
    assert render_quantity(Fraction(10**5000), WATT)


def test_shorten_keeps_both_ends() -> None:
    assert units.shorten("a\n  b") == "a b"
    assert units.shorten("x" * 50 + "y" * 50) == "x" * 40 + "..." + "y" * 15


@given(st.sampled_from(sorted(UNITS)), st.integers(-(10**6), 10**6), st.integers(0, 6))
def test_every_unit_scales_exactly(unit: str, digits: int, places: int) -> None:
    text = f"{'-' if digits < 0 else ''}{abs(digits) // 10**places}.{abs(digits) % 10**places:0{max(places, 1)}d}"
    factor, dimension = UNITS[unit]
    assert Q(f"{text} {unit}") == (Fraction(text) * factor, dimension)


@given(st.fractions(min_value=0, max_value=10**7, max_denominator=10**3).map(lambda x: Fraction(round(x * 1000), 1000)))
def test_a_shown_duration_reads_back(value: Fraction) -> None:
    shown, dimension = Q(render_seconds(value))
    assert dimension == SECOND
    assert abs(shown - value) <= value / 10**6


@given(st.sampled_from(sorted(COUNTERS)), st.sampled_from(sorted(COUNTERS)))
def test_two_counters_fit_when_they_are_the_same(one: str, other: str) -> None:
    assert Q(f"1 {one}")[1].fits(Q(f"1 {other}")[1]) == (one == other)


@settings(max_examples=100)
@given(st.text(max_size=30))
def test_any_text_is_a_quantity_or_a_unit_error(text: str) -> None:
    try:
        value, _ = Q(text)
    except UnitError as error:
        value = Fraction(len(str(error)))
    assert isinstance(value, Fraction)


PREFIXES = {"k": 3, "M": 6, "G": 9, "T": 12, "P": 15}  # SOURCE: BIPM, SI brochure, table 7
KINDS = (("W", 1), ("J", 1), ("Wh", 3600), ("B", 1), ("bit", Fraction(1, 8)), ("FLOP", 1), ("Hz", 1))


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_prefix_is_its_power_of_ten_or_of_two(prefix: str) -> None:
    power = PREFIXES[prefix]
    for name, size in KINDS:
        assert units.unit(f"{prefix}{name}")[0] == size * Fraction(10) ** power, name
    assert units.unit(f"{prefix.upper()}iB")[0] == Fraction(2) ** (10 * power // 3)


def test_a_fraction_is_read_where_it_may_stand_and_told_as_a_decimal_elsewhere() -> None:
    assert units.fraction(" 15/16 ") == Fraction(15, 16)
    assert units.fraction("1/0") is units.fraction("1/7 s") is units.fraction("-1/7") is None
    with pytest.raises(units.UnitError) as caught:
        units.quantity("15/16")
    assert caught.value.remedy == "write it as a decimal: 0.9375"


def test_every_other_spelling_is_answered_with_a_unit_that_is_read_and_none_is_one_of_ours() -> None:
    for other, ours in units._WRITTEN.items():
        assert other not in units.UNITS
        assert units.respelled(f"3 {other}") == f"3 {ours}"
        Q(f"3 {ours}")


@example("0/%")
@given(st.text(alphabet="0123456789.,/$ %*-msprehGBK", max_size=12))
def test_what_is_proposed_for_a_value_is_one(text: str) -> None:
    written = units.respelled(text)
    if written and written[0].isdigit():
        Q(written)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (2 * 10**12, "B", "2 TB"),
        (2 * 1024**4, "B", "2 TiB"),
        (1536, "B", "1.5 KiB"),
        (6 * 10**9, "B/s", "6 GB/s"),
        (450_000, "W", "450 kW"),
        (999, "B", "999 B"),
        (3 * 2**29, "B", "1.5 GiB"),
    ],
)
def test_bytes_and_watts_have_the_prefix_that_is_shorter(value: int, unit: str, text: str) -> None:
    assert render_quantity(Fraction(value), units.unit(unit)[1]) == text
    assert Q(text)[0] == value
