"""Networks with known parameters, from files: linear-Gaussian (JSON) and discrete (BIF), plain or gzipped.

Simulate from a network and fit again: the answer is known.
SOURCE: the JSON of linear-Gaussian networks as bnlearn's repository is shipped with pgmpy; BIF 0.15 (Cozman 1998).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.references.probability_tables import ProbabilityTable, Tables
from coherence.base.errors import InputError, Problem
from coherence.base.places import Place
from coherence.causal.carrier.linear_gaussian import GaussianNetwork
from coherence.simulate.telemetry.bounded_files import whole_text

_TOKEN = re.compile(r'"[^"]*"|[\[\]{}()|,;]|[^\s\[\]{}()|,;"]+')


def linear_network(path: Path) -> GaussianNetwork:
    """Read {nodes, cpds: {node: {coefficients: {"(Intercept)": [c], parent: [a]}, variance: [w], parents}}}."""
    try:
        data: Any = json.loads(whole_text(path))
        nodes = [str(node) for node in data["nodes"]]
        at = {node: number for number, node in enumerate(nodes)}
        matrix, constant, variance = np.zeros((len(nodes), len(nodes))), np.zeros(len(nodes)), np.zeros(len(nodes))
        for node, row in at.items():
            own = data["cpds"][node]
            variance[row] = float(own["variance"][0])
            for cause, (slope,) in own["coefficients"].items():
                if cause == "(Intercept)":
                    constant[row] = float(slope)
                else:
                    matrix[row, at[cause]] = float(slope)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise _error(path, 1, f"not a linear network: {error!r}", "write {nodes, cpds} as bnlearn does") from error
    if (variance < 0).any():
        raise _error(path, 1, f"a variance of {variance.min():g}", "variances cannot be negative")
    return GaussianNetwork(tuple((node, 0) for node in nodes), matrix, constant, variance)


def discrete_network(path: Path) -> Tables:
    """Read a BIF file."""
    words = [*_words(whole_text(path))]
    reader = _Reader(path, words)
    states: dict[str, tuple[str, ...]] = {}
    tables: list[ProbabilityTable] = []
    while not reader.ended:
        match reader.take():
            case "network":
                reader.skip_block()
            case "variable":
                name, levels = reader.variable()
                states[name] = levels
            case "probability":
                tables.append(reader.probability(states))
            case other:
                raise reader.problem(f"'{other}' where a variable or a probability was expected")
    lacking = sorted(set(states) - {table.name for table in tables})
    if lacking:
        raise reader.problem(f"no probability of '{lacking[0]}'")
    return Tables(states, tuple(tables))


class _Reader:
    """A cursor over the words of a BIF file."""

    def __init__(self, path: Path, words: list[tuple[str, int]]) -> None:
        self.path, self.words, self.at = path, words, 0

    @property
    def ended(self) -> bool:
        return self.at >= len(self.words)

    def take(self) -> str:
        if self.ended:
            raise self.problem("ends too early")
        self.at += 1
        return self.words[self.at - 1][0]

    def until(self, mark: str) -> list[str]:
        """The words before a mark, commas left out."""
        words: list[str] = []
        while (word := self.take()) != mark:
            if word != ",":
                words.append(word)
        return words

    def expect(self, mark: str) -> None:
        word = self.take()
        if word != mark:
            raise self.problem(f"'{word}' where '{mark}' was expected")

    def skip_block(self) -> None:
        self.until("{")
        self.until("}")

    def variable(self) -> tuple[str, tuple[str, ...]]:
        name = self.take()
        self.expect("{")
        self.expect("type")
        self.expect("discrete")
        self.expect("[")
        (size,) = self.until("]")
        self.expect("{")
        words = tuple(self.until("}"))
        if len(words) != int(size):
            raise self.problem(f"'{name}' says {size} states and names {len(words)}")
        self.until("}")
        return name, words

    def probability(self, states: dict[str, tuple[str, ...]]) -> ProbabilityTable:
        self.expect("(")
        head = self.until(")")
        name, parents = head[0], tuple(word for word in head[1:] if word != "|")
        unknown = [one for one in (name, *parents) if one not in states]
        if unknown:
            raise self.problem(f"'{unknown[0]}' is no variable")
        table = np.full([*(len(states[parent]) for parent in parents), len(states[name])], math.nan)
        self.expect("{")
        while (word := self.take()) != "}":
            where = self._where(word, parents, states)
            numbers = [self._number(one) for one in self.until(";")]
            if len(numbers) != len(states[name]):
                raise self.problem(f"{len(numbers)} probabilities for {len(states[name])} states of '{name}'")
            table[where] = numbers
        if not np.isfinite(table).all() or not np.allclose(table.sum(axis=-1), 1.0, atol=1e-3):
            raise self.problem(f"the probabilities of '{name}' do not sum to 1 for every state of its causes")
        return ProbabilityTable(name, parents, table / table.sum(axis=-1, keepdims=True))

    def _where(self, word: str, parents: tuple[str, ...], states: dict[str, tuple[str, ...]]) -> tuple[int, ...]:
        if word == "table":
            return ()
        if word != "(":
            raise self.problem(f"'{word}' where 'table' or '(' was expected")
        given = self.until(")")
        if len(given) != len(parents):
            raise self.problem(f"{len(given)} states for {len(parents)} causes")
        for parent, level in zip(parents, given, strict=True):
            if level not in states[parent]:
                raise self.problem(f"'{parent}' has no state '{level}'")
        return tuple(states[parent].index(one) for parent, one in zip(parents, given, strict=True))

    def _number(self, word: str) -> float:
        try:
            return float(word)
        except ValueError:
            raise self.problem(f"'{word}' is not a number") from None

    def problem(self, message: str) -> InputError:
        line = self.words[min(self.at, len(self.words)) - 1][1] if self.words else 1
        return _error(self.path, line, message, "write BIF: variable .. { .. }, probability ( x | y ) { .. }")


def _words(text: str) -> Iterator[tuple[str, int]]:
    for number, line in enumerate(text.splitlines(), start=1):
        for found in _TOKEN.finditer(line.partition("//")[0]):
            yield found.group().strip('"'), number


def _error(path: Path, line: int, message: str, remedy: str) -> InputError:
    return InputError([Problem(Place(str(path), line, 1, line, 1), message, remedy)])
