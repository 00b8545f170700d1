"""Names that a text declares: of each section, within infrastructure, and while one line is no YAML yet."""

from __future__ import annotations

from coherence.editing.declared_names import DeclaredName, declared_names

TEXT = """coherence: 1
infrastructure:
  tiers: {h100: {count: 8}}
workload: {users: {rate: 1 req/s}}
calls: [{from: users, to: web}]
"""


def test_names_stand_with_their_sections_and_lines() -> None:
    assert declared_names(TEXT, 5) == (DeclaredName("h100", "tiers", 3), DeclaredName("users", "workload", 4))


def test_a_fault_in_the_line_that_is_written_hides_no_other_line() -> None:
    broken = TEXT.replace("to: web}]", "to: {")
    assert [one.name for one in declared_names(broken, 5)] == ["h100", "users"]
    assert declared_names(broken, 1) == ()


def test_other_texts_declare_nothing() -> None:
    assert declared_names("", 1) == ()
    assert declared_names("- a\n- workload: 3\n", 1) == ()
    assert declared_names("workload: 3\ninfrastructure: 4\n", 1) == ()
