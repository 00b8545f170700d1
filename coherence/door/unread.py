"""Names what an answer did not read of a design, and what the parts that it read leave out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coherence.base.reads import ValueReads
    from coherence.findings.finding import NotRead
    from coherence.findings.not_read import Basis
    from coherence.language.design import Design

# what is said of an entry of which nothing is read, and of a key
WORDS = {
    "analyze": ("no loop that is analyzed depends on it", "no analysis of loops depends on it"),
    "bound": ("no bound is about it", "no bound depends on it"),
    "fit": ("no influence or loss of this fit is about it", "no answer of this fit depends on it"),
    "observed": ("the comparison with logs does not have it", "the comparison with logs does not depend on it"),
    "region": ("no chosen question asks for it", "no chosen question asks for it"),
    "reproduce": ("the testbed does not run it", "the testbed does not depend on it"),
    "simulate": ("a run does not have it", "a run does not depend on it"),
    "sweep": ("no loop that is executed and no question depends on it", "no execution and no question depends on it"),
}


def unread(command: str, design: Design, reads: ValueReads, answers: Iterable[Basis] = ()) -> tuple[NotRead, ...]:
    """Returns what a command, and answers of questions, did not read of a design.

    Of a loop that cannot run it says what its run would need.
    """
    from coherence.base.errors import CoherenceError
    from coherence.findings.not_read import Basis, Reasons, not_read, unused_values
    from coherence.model.elaborate import model_of

    entry, key = WORDS[command]
    own = {}
    if command in ("analyze", "observed", "simulate", "sweep"):
        try:
            own = {gap.of: f"a run needs {gap.needs}" for gap in model_of(design).gaps}
        except CoherenceError:
            own = {}
    rest = not_read(design, (Basis(reads.all()), *answers), Reasons(entry, key, own))
    return (*rest, *unused_values(design))


def left_out(design: Design, reads: ValueReads) -> tuple[str, ...]:
    """Returns what the parts that a command read leave out of the programs they stand for: assumed in its answer."""
    from coherence.language.entries.omissions import omissions_of_read

    return omissions_of_read(design, reads.all())


def unread_json(lines: Iterable[NotRead]) -> list[dict[str, Any]]:
    """Returns the lines for `not_read` of a command's JSON."""
    from coherence.reporting.json_ import not_read_json

    return [not_read_json(line) for line in lines]
