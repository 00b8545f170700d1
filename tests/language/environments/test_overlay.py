"""Environments of a design: what they add and override, how one is chosen, and what is refused."""

from __future__ import annotations

import pytest

from coherence.base.errors import InputError, UsageError
from coherence.language import document
from coherence.language.document import Table
from coherence.language.environments.overlay import (
    chosen_environment,
    environments_of,
    in_environment,
    read_in_environment,
)
from coherence.language.reading import design_from_table

TEXT = """\
coherence: 1
infrastructure:
  tiers: {gpu: {count: 8}}
  links: [{ends: [web, shop], latency: 1 ms}]
components: {web: {copies: 2}, shop: {copies: 3, takes: {serve: 10 ms}}}
calls:
  - {from: web, to: shop, deadline: 1 s, tries: 2}
environments:
  home:
  cloud:
    infrastructure:
      tiers: {gpu: {count: 4}, spot: {count: 90}}
      links: [{ends: [web, shop], latency: 9 ms}, {ends: [web, gpu]}]
    components: {shop: {copies: 30}}
    calls: [{from: web, to: shop, deadline: 2 s}]
"""


def root(text: str) -> Table:
    table = document.read_text(text, "d")[0].root
    assert isinstance(table, Table)
    return table


def test_an_environment_adds_and_overrides_and_leaves_the_rest() -> None:
    home, cloud = (read_in_environment(TEXT, "d", name) for name in ("home", "cloud"))
    assert home.environment == "home"
    assert [str(home.tiers["gpu"].count), str(cloud.tiers["gpu"].count)] == ["8", "4"]
    assert list(cloud.tiers) == ["gpu", "spot"]
    assert [str(design.components["shop"].copies) for design in (home, cloud)] == ["3", "30"]
    assert cloud.components["shop"].takes == home.components["shop"].takes


def test_calls_and_links_are_the_same_where_their_ends_are() -> None:
    cloud = read_in_environment(TEXT, "d", "cloud")
    assert len(cloud.calls) == 1
    assert (str(cloud.calls[0].deadline), [str(tries) for tries in cloud.calls[0].tries]) == ("2 s", ["2"])
    assert cloud.infrastructure is not None
    assert [str(link.constants.get("latency")) for link in cloud.infrastructure.links] == ["9 ms", "None"]


def test_values_keep_their_places_and_what_does_not_count_is_named() -> None:
    cloud = read_in_environment(TEXT, "d", "cloud")
    copies = cloud.components["shop"].copies
    assert copies is not None
    assert copies.place.line == 14
    assert [(path, why) for _, path, why in cloud.unused] == [
        ("infrastructure.tiers.gpu.count", "cloud states it itself"),
        ("infrastructure.links.0.latency", "cloud states it itself"),
        ("components.shop.copies", "cloud states it itself"),
        ("calls.0.deadline", "cloud states it itself"),
    ]
    assert {why for _, _, why in read_in_environment(TEXT, "d", "home").unused} == {
        "it is another environment than home"
    }


def test_all_environments_are_read_unless_one_is_chosen() -> None:
    assert environments_of(root(TEXT)) == ("home", "cloud")
    assert environments_of(root("coherence: 1\n")) == ("",)
    with chosen_environment("cloud"):
        assert environments_of(root(TEXT)) == ("cloud",)
    with pytest.raises(UsageError, match="no design with environments was read"), chosen_environment("cloud"):
        pass


def test_a_design_of_one_environment_is_in_it() -> None:
    assert read_in_environment(TEXT.replace("  home:\n", ""), "d", "").environment == "cloud"
    laid, name, unused = in_environment(root("coherence: 1\nenvironments: {a: }\n"), "")
    assert (list(laid.entries), name, unused) == (["coherence"], "a", ())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", "this design is of 2 environments: home, cloud"),
        ("  home:", "  home: [a]", "a mapping expected, a list found"),
        ("  home:", "  home: {coherence: 2}", "'coherence' is the same in every environment"),
        ("  home:", "  home: {environments: {a: }}", "'environments' is the same in every environment"),
        ("environments:", "environments: 3\nsummary:", "environments are a mapping of names"),
        ("tries: 2}", "tries: 2}\n  - {from: web, to: shop}", "2 entries have these ends"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_its_line(old: str, new: str, message: str) -> None:
    text = TEXT.replace(old, new, 1) if old else TEXT
    with pytest.raises(InputError, match=message):
        read_in_environment(text, "d", "cloud" if "entries" in message else "")


def test_an_unknown_environment_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match=r"no environment 'clod'(.|\n)*did you mean 'cloud'"):
        read_in_environment(TEXT, "d", "clod")
    with pytest.raises(InputError, match="no environment 'cloud'"):
        read_in_environment("coherence: 1\n", "d", "cloud")


def test_environments_are_not_laid_over_manifests() -> None:
    with pytest.raises(InputError, match="this design is of several environments"):
        design_from_table(root("coherence: 1\nenvironments: {a: }\n"), file="d", text="")


@pytest.mark.parametrize(("within", "message"), [
    ("    calls: [{from: web, to: shop, deadline: 2 s}, {from: web, to: shop, tries: 3}]\n", "these ends twice"),
    ("    calls: [{from: web, to: shop, deadline: ~}]\n", "takes nothing away, and calls.0.deadline is stated"),
    ("    calls:\n", "takes nothing away, and calls is stated"),
])  # fmt: skip
def test_what_would_be_lost_is_refused(within: str, message: str) -> None:
    text = TEXT[: TEXT.index("    calls: [{")] + within
    with pytest.raises(InputError, match=message):
        read_in_environment(text, "d", "cloud")


def test_an_empty_entry_takes_nothing_away() -> None:
    text = TEXT.replace("{shop: {copies: 30}}", "{shop: , web: {copies: 4}}")
    shop = read_in_environment(text, "d", "cloud").components["shop"]
    assert shop.copies is not None
    assert shop.copies == read_in_environment(text, "d", "home").components["shop"].copies


def test_an_environment_without_a_name_is_refused() -> None:
    with pytest.raises(InputError, match="without a name"):
        read_in_environment(TEXT.replace("home:", '"":'), "d", "cloud")


def test_what_an_alias_repeats_is_used_where_it_stands() -> None:
    text = TEXT.replace("home:", "home: {components: {shop: {copies: &n 30}}}").replace(
        "copies: 30}}\n", "copies: *n}}\n"
    )
    text = text.replace("home: {components: {shop: {copies: *n}}}", "home: {components: {shop: {copies: &n 30}}}")
    unused = read_in_environment(text, "d", "cloud").unused
    assert not [path for place, path, _ in unused if path == "environments.home"]


def test_others_are_left_to_themselves_where_they_are_asked_about_too() -> None:
    table = root(TEXT)
    assert any(path == "environments.cloud" for _, path, _ in in_environment(table, "home")[2])
    assert in_environment(table, "home", alone=False)[2] == ()


def test_the_design_of_a_text_is_its_document_that_is_not_empty() -> None:
    assert read_in_environment(f"---\n~\n---\n{TEXT}", "d", "cloud").components.keys() == {"web", "shop"}
