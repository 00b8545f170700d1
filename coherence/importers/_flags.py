"""Flags of programs that control a cluster, in the command and the arguments of their containers.

`--name=value` and `--name value`; a flag without a value is true.  A program is known by the last part of its command,
else of its image.  What is no flag that its reader asks for is listed by its name, without its value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from coherence.base import units
from coherence.base.places import Place
from coherence.base.units import UnitError
from coherence.importers._kubernetes import FieldView
from coherence.importers._quantities import duration_text, respelled
from coherence.importers._sketch import Sketch
from coherence.language.document import Items, Scalar

WORDS = ("command", "args")


class Flags:
    """The flags of one container; each may be written several times."""

    def __init__(self, container: FieldView) -> None:
        self.container = container
        self.place: Place = container.node.place
        self.stated: dict[str, list[Scalar]] = {}
        self.read: set[str] = set()
        last = ""
        for word in _words(container):
            name, equals, value = word.text.partition("=")
            if name.startswith("-"):
                flag = name.lstrip("-")
                self.stated.setdefault(flag, []).append(respelled(word, value if equals else "true"))
                last = "" if equals else flag
            elif last:
                self.stated[last][-1], last = word, ""

    def all(self, name: str) -> list[Scalar]:
        """Returns the values of a flag."""
        self.read.add(name)
        return self.stated.get(name, [])

    def last(self, name: str) -> Scalar | None:
        """Returns the last value of a flag, which counts."""
        return next(reversed(self.all(name)), None)

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
        """Lists the flags that nobody asked for."""
        others = [name for name in self.stated if name not in self.read]
        for key in WORDS:
            self.container.use(key)
        if others:
            words = f"{self.container.manifest.title}: flags {', '.join(others)} of {self.container.path}"
            self.container.manifest.remarks.append((self.place, units.shorten(words, 200)))


Reader = Callable[[Flags, Sketch], None]


def read_flags(container: FieldView, readers: Mapping[str, Reader], sketch: Sketch) -> None:
    """Reads the flags of a container whose program has a reader."""
    reader = readers.get(_program(container))
    if reader is not None:
        flags = Flags(container)
        reader(flags, sketch)
        flags.list_others()


def _words(container: FieldView) -> list[Scalar]:
    lists = [container.node.get(key) for key in WORDS]
    return [word for words in lists if isinstance(words, Items) for word in words if isinstance(word, Scalar)]


def _program(container: FieldView) -> str:
    """Returns the name of what runs in a container."""
    command, image = container.node.get("command"), container.node.get("image")
    first = next(iter(command), None) if isinstance(command, Items) else None
    if isinstance(first, Scalar):
        return first.text.rpartition("/")[2]
    path = image.text.partition("@")[0] if isinstance(image, Scalar) else ""
    return path.rpartition("/")[2].partition(":")[0]
