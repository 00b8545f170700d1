"""Differences of two documents, and the documents between them."""

from __future__ import annotations

from itertools import combinations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coherence.language import document
from coherence.language.document import Table, plain
from coherence.language.environments.differences import between, differences

LEAVES = st.sampled_from(["1", "2 s", "x"])
TREES = st.recursive(LEAVES, lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3), max_leaves=8)


def table(text: str) -> Table:
    root = document.read_text(text, "d")[0].root
    assert isinstance(root, Table)
    return root


def flow(tree: object) -> str:
    if isinstance(tree, dict):
        return f"{{{', '.join(f'{key}: {flow(value)}' for key, value in tree.items())}}}"
    return str(tree)


OLD = "{a: {x: 1, y: [1, 2], z: 0}, calls: [{from: p, tries: 1}, {from: q}], gone: {k: 3}}"
NEW = "{a: {x: 2, y: [1, 3], z: 0}, calls: [{from: p, tries: 4}, {from: q}], new: 5 s}"


def test_each_value_that_differs_is_one_difference_with_its_path() -> None:
    assert [str(one) for one in differences(table(OLD), table(NEW))] == [
        "a.x: 1 -> 2",
        "a.y: [1, 2] -> [1, 3]",
        "calls.0.tries: 1 -> 4",
        "gone removed: {k: 3}",
        "new added: 5 s",
    ]
    assert next(iter(differences(table(OLD), table(NEW)))).place.column == 9


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(old=st.dictionaries(st.sampled_from("abc"), TREES), new=st.dictionaries(st.sampled_from("abc"), TREES))
def test_all_differences_make_the_later_document_and_none_the_earlier(old: object, new: object) -> None:
    before, after = table(flow(old)), table(flow(new))
    changed = list(differences(before, after))
    assert plain(between(before, changed)) == plain(after)
    assert plain(between(before, [])) == plain(before)
    assert bool(changed) == (plain(before) != plain(after))


def test_some_differences_change_those_values_alone() -> None:
    before, after = table(OLD), table(NEW)
    changed = list(differences(before, after))
    for chosen in combinations(changed, 2):
        mixed = between(before, chosen)
        assert {one.name for one in differences(before, mixed)} == {one.name for one in chosen}
        assert len(list(differences(mixed, after))) == len(changed) - 2


def test_calls_and_links_are_known_by_their_ends_wherever_they_stand() -> None:
    old = table("{calls: [{from: a, to: b, tries: 1}, {from: a, to: c}], links: [{ends: [a, b], latency: 1 ms}]}")
    new = table("{calls: [{from: a, to: d}, {from: a, to: b, tries: 4}], links: [{ends: [a, b], latency: 1 ms}]}")
    own = list(differences(old, new))
    assert [str(one) for one in own] == [
        "calls.a -> b.tries: 1 -> 4",
        "calls.a -> c removed: {from: a, to: c}",
        "calls.a -> d added: {from: a, to: d}",
    ]
    for chosen in (own, own[::-1]):
        assert list(differences(between(old, chosen), new)) == []
    assert list(differences(table("{calls: [{from: a, to: b}, {from: b, to: c}]}"),
                            table("{calls: [{from: b, to: c}, {from: a, to: b}]}"))) == []  # fmt: skip
