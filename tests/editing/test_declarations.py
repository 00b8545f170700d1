"""Declarations at a path: every key of the language has its own, and names of the writer have none."""

from __future__ import annotations

from coherence.editing.declarations import declaration


def test_keys_are_found_below_names_and_items_whatever_the_writer_calls_them() -> None:
    for name in ("hpa", "timescale", "target"):  # two of them are keys of a loop
        period = declaration(("loops", name, "timescale", "period")).key
        assert period is not None
        assert period.name == "period"
        assert declaration(("loops", name)).key is None
    assert "hold_down" in declaration(("loops", "hpa", "timescale")).records[0].keys
    assert "deadline" in declaration(("calls",)).records[0].keys


def test_words_are_those_of_the_schema_and_nothing_is_below_what_is_unknown() -> None:
    assert "manifests" in declaration(("overlays",)).words
    nothing = declaration(("nonsense", "deeper"))
    assert (nothing.key, nothing.records) == (None, ())
