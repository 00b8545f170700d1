"""The words of the keys: every key has some, and one source gives schema, page and `explain`."""

from __future__ import annotations

import pytest

from coherence.language.design import Design
from coherence.language.document import Table, read_text
from coherence.language.pages.reference import (
    DeclaredKey,
    declared_keys,
    key_examples,
    key_words,
    keys_named,
    language_page,
    render_keys,
)
from coherence.language.pages.schema import design_schema
from coherence.language.schema_kinds import Kind, Reading

EVERY = declared_keys()


@pytest.mark.parametrize("declared", EVERY, ids=[key.path for key in EVERY])
def test_every_key_says_what_it_holds_what_it_means_and_what_holds_without_it(declared: DeclaredKey) -> None:
    key = declared.key
    assert isinstance(key.kind, Kind)
    assert key.kind.holds
    assert len(key.means) > 4
    assert bool(key.without) is not (key.required or (key.for_people and key.name not in ("overlays", "environments")))
    for text in (key.means, key.without):
        assert not text.endswith(".")
        assert "|" not in text
        assert "  " not in text


def test_every_key_has_an_example_that_the_language_reads() -> None:
    written = {
        (declared.record.__name__, name): key for declared in EVERY for name, key in declared.record.keys.items()
    }
    assert set(key_examples()) == set(written)
    for place, example in key_examples().items():
        (document,) = read_text(f"key: {example}\n", "examples.yaml")
        assert isinstance(document.root, Table)
        reading = Reading()
        value = written[place].kind.read(document.root.entries["key"], reading)
        assert not reading.problems, (place, reading.problems)
        assert value is not None or place == ("Design", "environments"), place  # which is read before all others
        assert "`" not in example
        assert "|" not in example


def test_the_keys_are_those_of_all_records() -> None:
    assert {key.path for key in EVERY if "." not in key.path} == set(Design.keys)
    assert len({(key.record, key.key.name) for key in EVERY}) > 180
    assert len({key.path for key in EVERY}) == len(EVERY)


def test_a_name_is_the_end_of_a_path() -> None:
    assert [key.path for key in keys_named("timescale.lands")] == ["loops.timescale.lands"]
    assert {key.path for key in keys_named("on_timeout")} == {"calls.on_timeout"}
    assert len(keys_named("count")) > 2
    assert not keys_named("ount")


def test_the_words_are_sentences_and_a_record_lists_its_keys() -> None:
    (held,) = keys_named("hold_down")
    assert "is followed. Without it: 0 s. Read by verify, loops" in key_words(held.key)
    assert "    hold_down  the window of stabilization" in render_keys(keys_named("loops.timescale"))
    assert render_keys(keys_named("cv")).startswith("workload.arrivals.cv\n")
    assert "workload.service.cv, workload.tokens.cv" in render_keys(keys_named("cv"))


def test_the_schema_describes_every_property() -> None:
    schema = design_schema()
    records = [schema, *schema["$defs"].values()]
    for record in records:
        for name, described in record["properties"].items():
            assert described.get("description"), name
    assert schema["properties"]["loops"]["description"].startswith("Control loops, by name")
    hold = schema["$defs"]["Timescale"]["properties"]["hold_down"]
    assert hold["description"] == key_words(keys_named("hold_down")[0].key)


def test_the_page_has_a_row_for_each_key_once() -> None:
    page = language_page()
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert len(rows) == len({(key.record, key.key.name) for key in EVERY})
    assert all(row.count(" | ") == 5 for row in rows)
