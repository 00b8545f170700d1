"""Says of topics that people ask about which command answers, and what is refused with its reason.

Each file `topics/NAME.toml` is one topic; `also` holds other words that people ask for it by.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from coherence.findings.diagnostic_domains import Domain


@dataclass(frozen=True)
class Topic:
    """What people ask about: what answers it, each with a command, and what does not, each with its reason."""

    name: str
    title: str
    answered: tuple[str, ...]
    refused: tuple[str, ...]
    also: tuple[str, ...] = ()

    def page(self) -> Iterator[str]:
        """Yields its page, line by line."""
        yield f"{self.name}: {self.title}"
        yield from ("", "answered:", *(f"- {line}" for line in self.answered))
        yield from ("", "refused:", *(f"- {line}" for line in self.refused))


def topic_names() -> tuple[str, ...]:
    """Returns the names of all topics."""
    folder = files(__package__).joinpath("topics")
    return tuple(sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml")))


@cache
def _topics() -> dict[str, Topic]:
    """Returns the topics by each word that asks for one of them."""
    by_word = {}
    for name in topic_names():
        data = tomllib.loads(files(__package__).joinpath("topics", f"{name}.toml").read_text(encoding="utf-8"))
        own = Topic(name, data["title"], tuple(data["answered"]), tuple(data["refused"]), tuple(data.get("also", ())))
        by_word.update(dict.fromkeys((name, *own.also), own))
    return by_word


def topic_words() -> tuple[str, ...]:
    """Returns each word that asks for a topic."""
    return tuple(_topics())


def topic(word: str) -> Topic | None:
    """Returns the topic of a name or of another word for it; None where there is none."""
    return _topics().get(word)


def domain_page(domain: Domain) -> Iterator[str]:
    """Yields the page of a domain, line by line."""
    yield f"{domain.name}: {domain.title} ({domain.cluster}; for {domain.teams})"
    yield from ("", domain.scope, "", f"coherence check DESIGN --domain {domain.name} asks {', '.join(domain.codes)}")
    yield from (f"is also answered by: {command}" for command in domain.commands)
    yield from (f"is meant for {condition.all_words}" for condition in domain.valid)
    yield from ("", "refused:", *(f"- {line}" for line in domain.not_covered))
