"""Reproduce a design on a real nginx, HAProxy or Envoy: observation beside prediction"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from coherence.base.errors import UsageError
from coherence.base.output_files import made_folder
from coherence.base.watchdog import STOPPED_CODE
from coherence.cli._designs import one_entry
from coherence.cli._given import refuse_given
from coherence.cli._output import Output, output_option, put_out
from coherence.cli._seconds import seconds_of
from coherence.cli._unread import left_out_text, strict_code, strict_option, unread_text
from coherence.cli._width import print_text
from coherence.door.unread import left_out, unread, unread_json

if TYPE_CHECKING:
    from coherence.findings.finding import NotRead
    from coherence.language.design import Design
    from coherence.simulate.testbed.proxy import Proxy
    from coherence.simulate.testbed.repeated import SeenRun
    from coherence.simulate.testbed.set_up import RunTiming, SetUp
    from coherence.simulate.testbed.words import Reproduction

OF_A_DESIGN = ("path", "proxy", "protocol", "pause", "span", "seed", "runs", "dry_run", "strict")
Answer: TypeAlias = "tuple[str, Mapping[str, Any]]"  # as text, and as fields of JSON


@click.command("reproduce")
@click.argument("path", type=click.Path(), required=False)
@click.option("--with", "proxy", metavar="PROXY", help="nginx, haproxy or envoy; none for an autoscaler.")
@click.option(
    "--protocol",
    default="http",
    show_default=True,
    type=click.Choice(["http", "grpc"]),
    help="HTTP/1.1, or gRPC (on envoy).",
)
@click.option("--pause", default="3s", show_default=True, metavar="TIME", help="The back end stands still; 0s: burst.")
@click.option("--for", "span", default="60s", show_default=True, metavar="TIME", help="How long requests are sent.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Of arrivals and service times.")
@click.option("--runs", default=1, show_default=True, type=click.IntRange(1, 1000), help="Runs, a seed more each.")
@click.option(
    "--experiment", "experiments", multiple=True, metavar="NAME",
    help="In place of a design: systems whose truth is known (repeatable; all).",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only write the files.")
@click.option("--into", type=click.Path(path_type=Path, file_okay=False), help="Keep the files in this folder.")
@strict_option()
@output_option("text", "json")
def command(  # noqa: PLR0913  (one parameter per option)
    *, path: str | None, proxy: str | None, protocol: str, pause: str, span: str, seed: int, runs: int,
    experiments: Sequence[str], dry_run: bool, into: Path | None, strict: bool, output: Sequence[Output],
) -> int:  # fmt: skip
    """Run the design at PATH on loopback: a real proxy, a back end, a load; everything started is stopped.

    A design with an autoscaler and no retries runs with real replicas, HAProxy and Prometheus. Exits 1 where the
    observation is not as predicted. With --runs several are laid beside the probability that a run collapses; --into
    keeps them, and a command that was stopped goes on.

    --experiment counts how often the null of a signature of infrastructure is rejected where it holds and where it
    does not (300 runs each); --into writes a page with a picture of its power. Exits 1 where a target is missed.
    """
    if experiments:
        from coherence.cli import _experiments

        refuse_given(OF_A_DESIGN, "an experiment has its own systems")
        return _experiments.answered(experiments, into, output)
    if path is None:
        raise UsageError("name a design, or an experiment (`--experiment all`)")
    design = one_entry(path).design
    if dry_run:
        refuse_given(("output", "runs"), "with --dry-run files are written and nothing is told")
    if proxy is None:
        return _without_proxy(design, into, output, dry_run=dry_run, strict=strict)
    from coherence.simulate.testbed.set_up import course

    timing = course(pause=seconds_of(pause, "--pause"), lasts=seconds_of(span, "--for"), seed=seed)
    given_runs = None if dry_run else runs
    return _with_proxy(path, proxy, protocol, timing, into, output, runs=given_runs, strict=strict)


def _without_proxy(design: Design, into: Path | None, output: Sequence[Output], *, dry_run: bool, strict: bool) -> int:
    """Reproduces a loop with what the design says, or writes its files; returns the exit code."""
    refuse_given(
        ("protocol", "pause", "span", "seed", "runs"), "an autoscaler runs as the design says; --with names a proxy"
    )
    if not dry_run:
        refuse_given(("into",), "the files of an autoscaler are kept with --dry-run alone")
    code, lines = _autoscaler(design, into or Path("reproduce-autoscaler"), output, dry_run=dry_run)
    return strict_code(code, lines, strict=strict)


def _with_proxy(  # noqa: PLR0913  (one parameter per option)
    path: str, proxy: str, protocol: str, timing: RunTiming, into: Path | None, output: Sequence[Output], *,
    runs: int | None, strict: bool,
) -> int:  # fmt: skip
    """Reproduces the calls of a design on a proxy, or only writes its files (`runs` is None); returns the exit code."""
    design = one_entry(path).design
    from coherence.base.reads import recorded
    from coherence.language.entries.omissions import merged
    from coherence.simulate.testbed import proxies
    from coherence.simulate.testbed.set_up import set_up

    chosen = proxies.proxy(proxy)
    with recorded() as reads:
        prepared = set_up(design, before=timing.before, pause=timing.pause)
    prepared = replace(prepared, notes=merged(prepared.notes, left_out(design, reads)), protocol=protocol)
    lines = unread("reproduce", design, reads)
    proxies.accept(chosen, prepared)
    if runs is None:
        _written(into or Path(f"reproduce-{proxy}"), prepared, chosen, timing)
        print_text(_text("", lines), nl=False)
        return strict_code(0, lines, strict=strict)
    answer, code = _reproduced(path, into, prepared, chosen, timing, runs)
    put_out(output, partial(_rendered, answer, lines))
    return code if code == STOPPED_CODE else strict_code(code, lines, strict=strict)


def _autoscaler(
    design: Design, folder: Path, output: Sequence[Output], *, dry_run: bool
) -> tuple[int, Sequence[NotRead]]:
    """Reproduces a loop; returns the exit code, and what the testbed did not read."""
    from coherence.base.reads import recorded
    from coherence.simulate.testbed.autoscaler import applies, as_json, reproduce_autoscaler, text, write_files

    if not applies(design):
        raise UsageError("which proxy is to run it? say --with nginx, --with haproxy or --with envoy")
    if dry_run:
        with recorded() as reads:
            files = write_files(design, folder)
        lines = unread("reproduce", design, reads)
        print_text(_text("".join(f"{file}\n" for file in files), lines), nl=False)
        return 0, lines
    with recorded() as reads:
        reproduction = reproduce_autoscaler(design, progress=lambda line: click.echo(line, err=True))
    lines, assumed = unread("reproduce", design, reads), left_out(design, reads)
    shown = "".join((text(reproduction), *(f"{line}\n" for line in left_out_text(assumed))))
    put_out(output, partial(_rendered, (shown, {**as_json(reproduction), "assumptions": list(assumed)}), lines))
    return 0 if reproduction.agrees else 1, lines


def _rendered(answer: Answer, lines: Sequence[NotRead], form: str) -> str:
    return _json(answer[1], lines) if form == "json" else _text(answer[0], lines)


def _text(text: str, lines: Sequence[NotRead]) -> str:
    return text + "".join(f"{line}\n" for line in unread_text(lines))


def _json(fields: Mapping[str, Any], lines: Sequence[NotRead]) -> str:
    from coherence.door.result import head

    return json.dumps({**head("reproduce"), **fields, "not_read": unread_json(lines)}, indent=2) + "\n"


def _written(folder: Path, prepared: SetUp, chosen: Proxy, timing: RunTiming) -> None:
    from coherence.simulate.testbed.reproduction import new_ports, write

    for path in write(made_folder(folder), prepared, chosen, timing, new_ports(len(prepared.hops))):
        print_text(str(path))
    print_text(f"nothing was started; {folder / 'README.txt'} says how to run it")


def _reproduced(
    path: str, into: Path | None, prepared: SetUp, chosen: Proxy, timing: RunTiming, runs: int
) -> tuple[Answer, int]:
    """Runs it; returns what is shown, and the exit code: 1 where it is not as predicted."""
    from coherence.simulate.testbed.words import as_json, text

    if runs > 1:
        return _repeated(path, into, prepared, chosen, timing, range(timing.seed, timing.seed + runs))
    reproduction = _run(path, into, prepared, chosen, timing)
    return (text(reproduction), as_json(reproduction)), int(not reproduction.agrees)


def _repeated(
    path: str, into: Path | None, prepared: SetUp, chosen: Proxy, timing: RunTiming, seeds: range
) -> tuple[Answer, int]:
    """Runs several seeds; returns what is shown, and the exit code: 1 where they are not as predicted."""
    from coherence.base.kept_results import digest_of
    from coherence.cli._progress import Progress
    from coherence.simulate.testbed.processes import temporary_folder
    from coherence.simulate.testbed.repeated import (
        KeptReproductions,
        Repetition,
        as_json,
        predicted_share,
        repeated,
        text,
    )
    from coherence.simulate.testbed.reproduction import found_binary, refuse_missing_grpc, run

    found_binary(chosen)
    refuse_missing_grpc(prepared)
    store = None
    if into:
        name = prepared.on(chosen.NAME)
        store = KeptReproductions(made_folder(into), digest_of(one_entry(path).sources), name, timing)
    done: list[SeenRun] = []
    with ExitStack() as stack:
        folder = into or stack.enter_context(temporary_folder())
        bar = stack.enter_context(Progress(f"running {chosen.NAME}"))
        running = partial(run, folder, prepared, chosen, progress=lambda share: bar((len(done) + share) / len(seeds)))
        with suppress(KeyboardInterrupt):
            done.extend(repeated(prepared, timing, seeds, running, store))
    repetition = Repetition(
        path, prepared.on(chosen.NAME), prepared, timing, tuple(done), predicted_share(prepared, timing)
    )
    code = STOPPED_CODE if len(done) < len(seeds) else int(not repetition.agrees)
    return (text(repetition), as_json(repetition)), code


def _run(path: str, into: Path | None, prepared: SetUp, chosen: Proxy, timing: RunTiming) -> Reproduction:
    from coherence.cli._progress import Progress
    from coherence.simulate.testbed.predict import predict
    from coherence.simulate.testbed.processes import temporary_folder
    from coherence.simulate.testbed.reproduction import found_binary, refuse_missing_grpc, run
    from coherence.simulate.testbed.words import Reproduction

    found_binary(chosen)
    refuse_missing_grpc(prepared)
    predicted = predict(prepared, timing)
    with ExitStack() as stack:
        folder = made_folder(into) if into else stack.enter_context(temporary_folder())
        bar = stack.enter_context(Progress(f"running {chosen.NAME}"))
        seen = run(folder, prepared, chosen, timing, progress=bar)
    return Reproduction(path, prepared.on(chosen.NAME), prepared, timing, seen, predicted)
