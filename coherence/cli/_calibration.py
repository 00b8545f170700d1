"""Writes measured ranges into a design, for `fit --write`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coherence.base.errors import InputError, UsageError
from coherence.base.outside_text import visible
from coherence.checking.workspace import Entry

if TYPE_CHECKING:
    from coherence.causal.session.calibration import Calibrated
    from coherence.causal.session.context import Context


def write_calibrated(entry: Entry, context: Context, source: str) -> None:
    """Replaces the file of a design by one with measured ranges, and says on standard error what was written.

    Raises UsageError where nothing can be written.
    """
    from coherence.base.replace_files import encoded_like, replace_files
    from coherence.causal.session.calibration import calibrated, calibrated_texts
    from coherence.language import document

    file = entry.design.file
    if not Path(file).is_file():
        raise UsageError(f"--write: {file} is no file: name the file of the design")
    content = Path(file).read_bytes()
    texts = {file: document.decode(content, file)}
    constants = calibrated(context, texts)
    if not any(constant.new for constant in constants):
        click.echo("nothing written: no constant of the design is measured", err=True)
    else:
        after = calibrated_texts(constants, texts, source)
        _readable(entry, after[file].replace("\r\n", "\n"), file)
        replace_files({file: (content, encoded_like(content, after[file]))})
    _tell(constants)


def _readable(entry: Entry, text: str, file: str) -> None:
    """Raises UsageError where the text would be no design."""
    try:
        entry.rebuild({**entry.sources, file: text})
    except InputError as error:
        raise UsageError(
            f"--write: with the measured ranges {file} is no design: nothing was written", [str(error)]
        ) from error


def _tell(constants: Sequence[Calibrated]) -> None:
    for constant in constants:
        where = f"{constant.place.file}:{constant.place.line}"
        done = f"{constant.old} -> {constant.new}" if constant.new else f"not written: {constant.refused}"
        click.echo(visible(f"{where}: {constant.path}: {done}"), err=True)
