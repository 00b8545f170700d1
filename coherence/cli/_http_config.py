"""The option that says how to log in at a Prometheus, of every command that asks one."""

from __future__ import annotations

import click

http_config_option = click.option(
    "--http-config", metavar="FILE", help="Login and TLS of the server, in the format of Prometheus' http_config."
)
