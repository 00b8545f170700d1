"""Flags of programs that control a cluster or serve requests, in the command and the arguments of their containers.

`--name=value` and `--name value`; a flag without a value is true, and `_` in a name is `-`.  A program is known by the
last part of its command, else of its image; `python -m` runs its module, and of the commands of a shell the one that is
known counts.  What its reader does not ask for is listed by its name, without its value: flags one by one, other words
as names and wiring.
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence

from coherence.base import units
from coherence.base.places import Place
from coherence.base.units import UnitError
from coherence.importers._kubernetes import FieldView
from coherence.importers._quantities import amount, duration_text, integer, respelled
from coherence.importers._sketch import Sketch
from coherence.language.document import Items, Node, Scalar

WORDS = ("command", "args")
SHELLS = ("sh", "bash", "dash", "ash")
PYTHONS = re.compile(r"python[0-9.]*")
SEPARATORS = ";|&\n"
COMMENT = re.compile(r"""(?:^|(?<=\s))#[^\n'"]*""", re.MULTILINE)
BEFORE = re.compile(r"exec|env|nohup|tini|--|[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
RUN_TIME = ("$", "{{")


class Flags:
    """The flags of one program of a container, which is one of `thing`; each may be written several times."""

    def __init__(self, container: FieldView, words: Sequence[Scalar], thing: str) -> None:
        self.container, self.thing = container, thing
        self.place: Place = container.node.place
        self.stated: dict[str, list[Scalar]] = {}
        self.read: dict[str, bool] = {}  # flag -> whether all of its values count, or the last
        self.names: set[str] = set()
        self.words: list[tuple[Scalar, str]] = []  # each word with the flag that it belongs to
        last = ""
        for word in words:
            before = last
            name, equals, value = word.text.partition("=")
            if name.startswith("-") and not amount(name[1:]):
                flag = name.lstrip("-").replace("_", "-")
                self.stated.setdefault(flag, []).append(respelled(word, value if equals else "true"))
                last = "" if equals else flag
            elif last:
                self.stated[last][-1], last = word, ""
            self.words.append((word, name.lstrip("-").replace("_", "-") if name.startswith("-") else before))

    def all(self, name: str) -> list[Scalar]:
        """Returns the values of a flag."""
        self.read[name] = True
        return self.stated.get(name, [])

    def last(self, name: str) -> Scalar | None:
        """Returns the last value of a flag, which counts."""
        self.read.setdefault(name, False)
        return next(reversed(self.stated.get(name, [])), None)

    def pass_over(self, *names: str) -> None:
        """Lists flags, if they are there, among the names and wiring."""
        self.names.update(names)

    def whole(self, name: str, *, least: int = 1) -> Scalar | None:
        """Returns a whole number of at least `least`."""
        stated = self.last(name)
        if stated is not None and any(mark in stated.text for mark in RUN_TIME):
            self.remark("known at run time", name)
            return None
        number = integer(stated) if stated is not None else None
        if stated is not None and (number is None or number < least):
            words = f"--{name} is '{units.shorten(stated.text)}', a whole number of at least {least} expected"
            self.container.problem(stated.place, words, f"write for example `--{name}={max(least, 1)}`")
            return None
        return stated

    def remark(self, why: str, *names: str) -> None:
        """Says why flags, if they are there, are not modelled."""
        for name in names:
            if (stated := self.last(name)) is not None:
                self._list(stated, name, why)

    def duration(self, name: str) -> Scalar | None:
        """Returns a Go duration, in the language's spelling."""
        stated = self.last(name)
        if stated is None:
            return None
        try:
            return respelled(stated, duration_text(units.go_duration(stated.text)))
        except UnitError as error:
            self.container.problem(stated.place, f"--{name}: {error}", error.remedy)
            return None

    def list_others(self) -> None:
        """Lists the flags that nobody asked for, values that a later one replaces, and the words that are no flags."""
        for name, values in self.stated.items():
            if name not in self.read and name not in self.names:
                self._list(values[0], name, "not modelled")
            for value in values[:-1] if self.read.get(name) is False else ():
                self._list(value, name, "written again further on, which counts")
        paths = dict(_paths(self.container))
        if not any(id(word) in paths for word, _ in self.words):
            self.container.use(*WORDS)  # the text of a shell
        for word, flag in self.words:
            if path := paths.get(id(word)):
                known = flag in self.stated and flag not in self.names
                (self.container.manifest.used if known else self.container.manifest.wiring).add(path)

    def _list(self, value: Scalar, name: str, why: str) -> None:
        manifest = self.container.manifest
        words = f"{manifest.title}: --{units.shorten(name)} of {self.container.path} ({why})"
        manifest.remarks.append((value.place, words))


def _paths(container: FieldView) -> Iterator[tuple[int, str]]:
    """Yields the path of each word of a command by what it is."""
    for key in WORDS:
        node = container.node.get(key)
        for number, word in enumerate(node) if isinstance(node, Items) else ():
            yield id(word), f"{container.at(key)}[{number}]"


Reader = Callable[[Flags, Sketch], None]


def read_flags(container: FieldView, thing: str, readers: Mapping[str, Reader], sketch: Sketch) -> None:
    """Reads the flags of a container whose program has a reader."""
    commands = _commands(container)
    for words in commands:
        reader = readers.get(_program(words))
        if reader is not None:
            flags = Flags(container, words, thing)
            reader(flags, sketch)
            flags.list_others()
            if sum(map(bool, commands)) > 1:
                title = f"{container.manifest.title}: {container.path}"
                container.manifest.remarks.append((words[0].place, f"{title} (what else its shell runs is not read)"))
            return


def _commands(container: FieldView) -> list[list[Scalar]]:
    """Returns the commands that a container runs, each as its words: one, or those of the text of a shell."""
    command, arguments = (_texts(container.node.get(key)) for key in WORDS)
    if not command:
        return [[*_image(container), *arguments]]
    words = [*command, *arguments]
    script = next((word for flag, word in itertools.pairwise(words[1:]) if flag.text.startswith("-")), None)
    if words[0].text.rpartition("/")[2] in SHELLS and script is not None:
        return _of_shell(script)
    return [words]


def _of_shell(script: Scalar) -> list[list[Scalar]]:
    """Returns the commands of the text of a shell; none where a quote is open."""
    text = COMMENT.sub("", script.text.replace("\\\n", " "))
    lexer = shlex.shlex(text, posix=True, punctuation_chars=SEPARATORS)
    lexer.whitespace, lexer.whitespace_split = " \t\r", True
    commands: list[list[Scalar]] = [[]]
    try:
        for word in lexer:
            if set(word) <= set(SEPARATORS):
                commands.append([])
            else:
                commands[-1].append(respelled(script, word))
    except ValueError:
        return []
    return commands


def _texts(node: Node | None) -> list[Scalar]:
    return [word for word in node if isinstance(word, Scalar)] if isinstance(node, Items) else []


def _image(container: FieldView) -> list[Scalar]:
    """Returns the name of an image as the program that it runs."""
    image = container.node.get("image")
    path = image.text.partition("@")[0] if isinstance(image, Scalar) else ""
    return [respelled(image, path.rpartition("/")[2].partition(":")[0])] if isinstance(image, Scalar) else []


def _program(words: Sequence[Scalar]) -> str:
    """Returns the name of what a command runs: its first word without its folder; for `python -m` the module."""
    texts = [word.text for word in itertools.dropwhile(lambda word: BEFORE.fullmatch(word.text), words)]
    name = texts[0].rpartition("/")[2] if texts else ""
    return texts[2] if PYTHONS.fullmatch(name) and texts[1:2] == ["-m"] and len(texts) > 2 else name
