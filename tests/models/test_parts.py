"""Each part with behaviour is laid beside its original by a module of this folder, or its findings say that it is not.

A module lists the parts that it compares as `PARTS`; such a part says in `compared:` with what.  `python -m
tests.models.test_parts` prints the others.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import tests.models
from coherence.language import catalogue
from coherence.language.document import Scalar


def compared() -> dict[str, str]:
    """Returns the parts that modules of this folder lay beside their originals, and the module of each."""
    modules = [
        importlib.import_module(f"tests.models.{found.name}") for found in pkgutil.iter_modules(tests.models.__path__)
    ]
    return {part: module.__name__ for module in modules for part in getattr(module, "PARTS", ())}


def behaving() -> Iterator[tuple[str, str]]:
    """Yields (folder, name) of each part that does something."""
    yield from ((folder, name) for folder in catalogue.BEHAVING for name in catalogue.parts(folder))


def stated(folder: str, name: str) -> str:
    """Returns with what a part says that it was compared."""
    words = catalogue.part(folder, name).get("compared")
    return words.text if isinstance(words, Scalar) else ""


def uncompared() -> list[str]:
    return [name for _, name in behaving() if name not in compared()]


def test_a_part_says_that_it_was_compared_where_a_module_here_does_so() -> None:
    assert {name for folder, name in behaving() if stated(folder, name)} == set(compared())


def test_findings_of_every_other_part_say_that_it_was_not() -> None:
    for folder, name in behaving():
        alone = any("was not laid beside its original" in text for text in catalogue.omissions(folder, name))
        assert alone == (name in uncompared()), name


def test_a_part_that_does_something_says_what_it_leaves_out_in_words_of_its_own() -> None:
    for folder, name in behaving():
        words = catalogue.omissions(folder, name)
        assert len(set(words)) == len(words)
        assert all(text.startswith(f"{name} ") for text in words)


if __name__ == "__main__":
    print("\n".join(uncompared()))  # noqa: T201  (a list for people)
