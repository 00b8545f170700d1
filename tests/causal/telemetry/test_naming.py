"""The design's names for columns: which column serves which signal, and what is told of the others."""

from __future__ import annotations

from coherence.causal.telemetry.naming import named, queries_of
from coherence.simulate.telemetry.contract import Signal, Telemetry, telemetry

COLUMNS = ("cpu", "ram", "disk")


def of(**columns: str) -> Telemetry:
    samples = {Signal(name): ([0.0, 1.0], [float(number), 9.0]) for number, name in enumerate(COLUMNS)}
    return named(telemetry(samples), {signal.replace("_", "."): column for signal, column in columns.items()})


def shown(record: Telemetry) -> dict[str, int]:
    return {signal.name: int(record[signal.name].values[0]) for signal in record.signals}


def test_a_column_is_called_as_the_design_calls_it_and_others_keep_their_names() -> None:
    assert shown(of()) == {"cpu": 0, "ram": 1, "disk": 2}
    assert shown(of(web_load="cpu")) == {"web.load": 0, "ram": 1, "disk": 2}
    assert shown(of(web_load="cpu", db_load="cpu")) == {"web.load": 0, "db.load": 0, "ram": 1, "disk": 2}


def test_a_signal_whose_column_is_not_there_is_left_out_by_name() -> None:
    record = of(web_load="cpuu")
    assert shown(record) == {"cpu": 0, "ram": 1, "disk": 2}
    ((signal, why, remedy),) = record.origins[-1].left_out
    assert (signal, why) == ("web.load", "its column 'cpuu' is not in the telemetry")
    assert "cpu" in remedy


def test_a_column_that_the_design_overrides_is_told() -> None:
    record = of(ram="cpu")
    assert shown(record) == {"ram": 0, "disk": 2}
    ((signal, why, _),) = record.origins[-1].left_out
    assert (signal, why) == ("ram", "the design reads its values from 'cpu', not from this column")
    assert shown(of(ram="cpu", cpu="ram")) == {"ram": 0, "cpu": 1, "disk": 2}  # exchanged
    assert of(ram="cpu", cpu="ram").origins[-1:] == of().origins[-1:]
    assert shown(of(ram="ram")) == {"cpu": 0, "ram": 1, "disk": 2}


def test_queries_are_what_the_section_names() -> None:
    assert queries_of({"a.b": "up"}) == {"a.b": "up"}
