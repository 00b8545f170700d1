"""Each part with behaviour is laid beside its original by a test of this folder, or its findings say that it is not.

A test of traces names the parts that it compares (`trace_counts(..., of=...)`); such a part says in `compared:` with
what.  `python -m tests.models.test_parts` prints the table of docs/parts.md, and with `--update` writes it there.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator

import tests.models
from coherence.language import catalogue
from coherence.language.document import Scalar, Table
from tests.draws import TRACES, comparison
from tests.paths import ROOT

PAGE = ROOT / "docs/parts.md"
HEAD = "| part | original | compared with | traces | test |\n|---|---|---|---|---|\n"


def traces_by_part() -> dict[str, list[tuple[int, str]]]:
    """Returns, for each part that is laid beside its original, the traces and the module of each test that does so."""
    tests_of: dict[str, list[tuple[int, str]]] = {}
    for listed in pkgutil.iter_modules(tests.models.__path__):
        module = importlib.import_module(f"tests.models.{listed.name}")
        for compared in filter(None, map(comparison, vars(module).values())):
            for part in compared.parts:
                tests_of.setdefault(part, []).append((compared.traces, listed.name))
    return tests_of


def behaving() -> Iterator[tuple[str, str]]:
    """Yields (folder, name) of each part that does something."""
    yield from ((folder, name) for folder in catalogue.BEHAVING for name in catalogue.parts(folder))


def stated(folder: str, name: str) -> str:
    """Returns with what a part says that it was compared."""
    words = catalogue.part(folder, name).get("compared")
    return words.text if isinstance(words, Scalar) else ""


def original(folder: str, name: str) -> str:
    """Returns the program that a part stands for, and its versions."""
    versions = catalogue.part(folder, name).get("versions")
    if not isinstance(versions, Table):
        return ""
    words = {key: node.text for key, node in versions.entries.items() if isinstance(node, Scalar)}
    return " to ".join(filter(None, (f"{words['of']} {words.get('from', '')}".strip(), words.get("to"))))


def uncompared() -> list[str]:
    """Returns the parts that no test here lays beside their originals."""
    compared = traces_by_part()
    return [name for _, name in behaving() if name not in compared]


def rows() -> Iterator[str]:
    """Yields a line of the table for each part; the fewest traces of its tests."""
    compared = traces_by_part()
    for folder, name in sorted(behaving()):
        counts = compared.get(name, [])
        modules = ", ".join(f"`{module}`" for module in sorted({module for _, module in counts}))
        traces = f"{min(traces for traces, _ in counts):,}" if counts else "none"
        yield f"| `{name}` | {original(folder, name)} | {stated(folder, name) or 'nothing'} | {traces} | {modules} |"


def table() -> str:
    return HEAD + "\n".join(rows()) + "\n"


def page() -> tuple[str, str]:
    """Returns the page before its table, and the table."""
    before, head, after = PAGE.read_text(encoding="utf-8").partition(HEAD)
    return before, head + after


def test_a_part_says_that_it_was_compared_where_a_test_here_does_so() -> None:
    assert {name for folder, name in behaving() if stated(folder, name)} == set(traces_by_part())


def test_each_comparison_has_ten_thousand_traces() -> None:
    assert {part: tests_of for part, tests_of in traces_by_part().items() if min(tests_of)[0] < TRACES} == {}


def test_findings_of_every_other_part_say_that_it_was_not() -> None:
    missing = uncompared()
    for folder, name in behaving():
        alone = any("was not laid beside its original" in text for text in catalogue.omissions(folder, name))
        assert alone == (name in missing), name


def test_a_part_that_does_something_says_what_it_leaves_out_in_words_of_its_own() -> None:
    for folder, name in behaving():
        words = catalogue.omissions(folder, name)
        assert len(set(words)) == len(words)
        assert all(text.startswith(f"{name} ") for text in words)


def test_the_page_of_the_parts_lists_each_with_its_traces() -> None:
    assert page()[1] == table(), "run python -m tests.models.test_parts --update"


if __name__ == "__main__":
    if "--update" in sys.argv[1:]:
        PAGE.write_text(page()[0] + table(), encoding="utf-8")
    else:
        print(table(), end="")  # noqa: T201  (a list for people)
