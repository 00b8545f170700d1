"""Reads YAML as a Design: every value with its place, every problem of the document at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coherence.base.errors import InputError, Problem, did_you_mean
from coherence.base.places import Place
from coherence.base.reads import unnoted
from coherence.language import call_cases, catalogue, dimensions, document, limit_units, names, word_checks
from coherence.language.design import Design
from coherence.language.document import Document, Items, Node, Table
from coherence.language.implied import with_named_numbers
from coherence.language.roles import with_readiness
from coherence.language.schema_kinds import Reading, read_record
from coherence.language.workloads import Spread2, Workload

if TYPE_CHECKING:
    from pathlib import Path

WITHOUT_MANIFESTS = (
    "this design is laid over manifests, and none is given", "name the manifests beside it: `coherence check FOLDER`",
)  # fmt: skip
PIPE_WAIT = 5.0  # s until somebody begins to write to a pipe
ENVIRONMENTS = "environments"  # the section that is laid over the rest before this is read
SECTIONS_WITH_PARTS = ("loops", "components", "timers", "limits")


def read_design(path: str | Path, *, shown_as: str | None = None) -> Design:
    """Returns the design in a file.  Raises InputError."""
    name = shown_as or str(path)
    documents = document.read(read_bytes(path, name), name)
    if len(documents) != 1:
        place = Place(name, 1, 1, 1, 1)
        raise InputError(
            [
                Problem(
                    place, f"{len(documents)} documents in one file", "a design is one document: remove the `---` lines"
                )
            ]
        )
    return design_of(documents[0])


def read_text(text: str, file: str = "<design>") -> Design:
    """Returns the design in a text."""
    documents = document.read_text(text, file)
    if len(documents) != 1:
        raise InputError(
            [Problem(Place(file, 1, 1, 1, 1), f"{len(documents)} documents found", "a design is one document")]
        )
    return design_of(documents[0])


def read_bytes(path: str | Path, name: str) -> bytes:
    """Returns the bytes of a file; an unreadable one is an InputError."""
    try:
        with open(path, "rb", opener=_opened) as file:
            return file.read(document.MAX_BYTES + 1)  # one more is refused: a device has no end
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(
            [Problem(Place(name, 1, 1, 1, 1), f"cannot be read: {reason}", "check the path and its permissions")]
        ) from None


def _opened(path: str, flags: int) -> int:
    """Opens a file, and a pipe only where somebody writes to it or begins to within some seconds.  Raises OSError."""
    import os
    import stat

    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if stat.S_ISFIFO(os.fstat(descriptor).st_mode) and not _is_written(descriptor):
        os.close(descriptor)
        raise OSError(0, "a pipe that nobody writes to")
    os.set_blocking(descriptor, True)
    return descriptor


def _is_written(descriptor: int) -> bool:
    """Decides whether a pipe has a writer, or something to read: at once, or within some seconds."""
    import os
    import select

    if select.select([descriptor], [], [], PIPE_WAIT)[0]:
        return True
    try:
        os.read(descriptor, 1)  # empty at its end, which is there where nobody has it open
    except BlockingIOError:
        return True
    return False


def is_design(root: Node) -> bool:
    """Returns whether the document is a design, by its first key."""
    return isinstance(root, Table) and "coherence" in root


def is_overlay(root: Node) -> bool:
    """Returns whether the document is a design that completes the manifests beside it."""
    return is_design(root) and isinstance(root, Table) and "overlays" in root


def design_of(source: Document) -> Design:
    """Returns the design in a parsed document.  Raises InputError with every problem."""
    root = source.root
    if not isinstance(root, Table):
        raise InputError([Problem(root.place, "a design is a mapping", "begin with `coherence: 1`")])
    if "coherence" not in root:
        near = did_you_mean(next(iter(root.entries), ""), Design.keys)
        raise InputError(
            [
                Problem(
                    root.place,
                    "this is not a design: the key 'coherence' is missing",
                    f"begin with `coherence: 1`; {near}".rstrip("; "),
                )
            ]
        )
    return design_from_table(root, file=source.file, text=source.text, comments=source.comments)


@unnoted()
def design_from_table(root: Table, *, file: str, text: str, whole: bool = True, **extra: Any) -> Design:
    """Returns the design in a document tree (a file's, or one that an importer made).  Raises InputError.

    Without `whole` its names and units are not checked: they may stand in the rest of the design.
    """
    reading = Reading()
    if isinstance(components := root.entries.get("components"), Table):
        reading.resources = frozenset(components.entries)
    if ENVIRONMENTS in root:
        remedy = "choose one: `--in NAME`, in Python `read(..., environment=NAME)`; over manifests there are none"
        reading.problem(root.key_place(ENVIRONMENTS), "this design is of several environments", remedy)
    design = read_record(Design, _with_parts(root, reading), reading, file=file, text=text, **extra)
    if design is not None:
        if design.version is not None and design.version.low != 1:
            message = f"version {design.version.text} of the language is not known"
            reading.problem(design.version.place, message, "write `coherence: 1`")
        if design.overlays is not None:
            reading.problem(design.overlays.place, *WITHOUT_MANIFESTS)
        design = design.replace(promises={name: promise.named(name) for name, promise in design.promises.items()})
        design = with_named_numbers(design)
        if whole:
            check_together(design, reading)
    if reading.problems or design is None:
        raise InputError(reading.problems)
    return _derived(design)


def _derived(design: Design) -> Design:
    """Returns the design with what follows from it: shares of members, requests that hold tokens, when members are
    ready, answers to probes, resources of places, rates in boundaries.
    """
    design = with_readiness(limit_units.with_held_tokens(limit_units.with_member_shares(design)))
    if design.places or any(timer.every is not None for timer in design.timers.values()):
        from coherence.language.implied import with_implied

        design = with_implied(design)
    if not design.boundaries:
        return design
    from coherence.language.shared_rates import with_shared_rates

    return with_shared_rates(design)


def check_together(design: Design, reading: Reading) -> None:
    """Reports what the entries of a design cannot mean beside each other: names, words and units."""
    names.check(design, reading)
    check_meanings(design, reading)


def check_meanings(design: Design, reading: Reading) -> None:
    """Reports what entries whose names are there cannot mean beside each other: words, cases, laws and units."""
    word_checks.check(design, reading)
    call_cases.check(design, reading)
    limit_units.check(design, reading)
    if any(_has_law(workload) for workload in design.workload.values()):
        from coherence.language import distributions

        distributions.check(design, reading)
    dimensions.check(design, reading)
    if design.boundaries or any(component.measured_in is not None for component in design.components.values()):
        from coherence.language import shared_rates

        shared_rates.check(design, reading)


def _has_law(workload: Workload) -> bool:
    """Decides whether a workload states the law or the quantiles of something."""
    stated = (workload.service, workload.tokens, workload.prompt, workload.answer, workload.residence)
    return any(isinstance(one, Spread2) and (one.law or one.quantiles) is not None for one in stated)


def _with_parts(root: Table, reading: Reading) -> Table:
    """Returns the document with every `uses:` of a loop, call, timer, limit, component, tier or boundary filled in."""
    document = Table(dict(root.entries), root.keys, root.place)
    for section in SECTIONS_WITH_PARTS:
        _fill_table(document, section, section, reading)
    calls = document.entries.get("calls")
    if isinstance(calls, Items):
        filled = [catalogue.fill("calls", c, reading) if isinstance(c, Table) else c for c in calls]
        document.entries["calls"] = Items(filled, calls.place)
    infrastructure = document.entries.get("infrastructure")
    if isinstance(infrastructure, Table):
        inner = Table(dict(infrastructure.entries), infrastructure.keys, infrastructure.place)
        for section in ("tiers", "boundaries"):
            _fill_table(inner, section, section, reading)
        links = inner.entries.get("links")
        if isinstance(links, Items):
            inner.entries["links"] = Items(
                [catalogue.fill("links", x, reading) if isinstance(x, Table) else x for x in links], links.place
            )
        document.entries["infrastructure"] = inner
    return document


def _fill_table(document: Table, key: str, section: str, reading: Reading) -> None:
    block = document.entries.get(key)
    if isinstance(block, Table):
        filled = {
            n: catalogue.fill(section, child, reading) if isinstance(child, Table) else child
            for n, child in block.entries.items()
        }
        document.entries[key] = Table(filled, block.keys, block.place)
