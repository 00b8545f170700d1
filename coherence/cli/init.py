"""Write a first design into this folder, from a shipped one."""

from __future__ import annotations

import os
from pathlib import Path

import click

from coherence.base.errors import UsageError, did_you_mean
from coherence.cli._width import print_text


@click.command("init")
@click.option("--from", "source", default="throttle-backfill", show_default=True, help="Name of a shipped design.")
@click.option("--to", "target", type=click.Path(path_type=Path), default=Path("design.yaml"), show_default=True)
def command(source: str, target: Path) -> int:
    """Write a design to start from; nothing is overwritten."""
    from coherence.base.replace_files import replace_files
    from coherence.language.catalogue import shipped

    names = sorted(path.parent.name for path in shipped("specs").glob("*/design.yaml"))
    if source not in names:
        raise UsageError(f"there is no shipped design '{source}': {did_you_mean(source, names)}")
    if os.path.lexists(target):
        raise UsageError(f"{target} exists: name another file with --to")
    replace_files({str(target): (None, (shipped("specs") / source / "design.yaml").read_bytes())})
    print_text(f"wrote {target} (from {source}); next: coherence check {target}")
    return 0
