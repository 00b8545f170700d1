"""nginx: `proxy_next_upstream` over an upstream group that names the one back end once per try.

SOURCE: nginx documentation, ngx_http_proxy_module: proxy_next_upstream, proxy_next_upstream_tries,
proxy_read_timeout; ngx_http_upstream_module: max_fails, keepalive.  A request tries each server of the group at
most once, so the group needs as many servers as there are tries; max_fails=0 keeps all of them in use.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.simulate.testbed.processes import LOOPBACK
from coherence.simulate.testbed.proxies._lacks import milliseconds, plain_retries
from coherence.simulate.testbed.proxy import Ports
from coherence.simulate.testbed.set_up import SetUp

NAME = "nginx"
BINARY = "nginx"
INSTALL = "Debian package nginx-light"
FILE = "nginx.conf"

_TEXT = """\
# {route}: {tries} {noun} of {per_try}; time-outs are tried again without pause
daemon off;
master_process off;
pid nginx.pid;
error_log stderr crit;
worker_rlimit_nofile 16384;
events {{ worker_connections 8192; }}
http {{
    access_log off;
    client_body_temp_path tmp;
    proxy_temp_path tmp;
    fastcgi_temp_path tmp;
    uwsgi_temp_path tmp;
    scgi_temp_path tmp;
    keepalive_requests 1000000;
    upstream backend {{
{servers}
        keepalive 1024;
        keepalive_requests 1000000;
    }}
    server {{
        listen {host}:{port} backlog=4096;
        location / {{
            proxy_pass http://backend;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_connect_timeout {per_try};
            proxy_send_timeout {per_try};
            proxy_read_timeout {per_try};
            proxy_next_upstream {again};
            proxy_next_upstream_tries {tries};
        }}
    }}
}}
"""


def lacks(setup: SetUp) -> Iterator[tuple[str, str, str]]:
    """Pauses, budgets, breakers and binding deadlines."""
    yield from plain_retries(NAME, setup)


def files(setup: SetUp, ports: Ports) -> dict[str, str]:
    """nginx.conf."""
    route = setup.route
    server = f"        server {LOOPBACK}:{ports.backend} max_fails=0;"
    text = _TEXT.format(
        route=route.name,
        tries=route.tries,
        noun="try" if route.tries == 1 else "tries",
        per_try=milliseconds(route.per_try),
        servers="\n".join([server] * route.tries),
        again="timeout" if route.tries > 1 else "off",
        host=LOOPBACK,
        port=ports.proxy,
    )
    return {FILE: text}


def command(path: str) -> list[str]:
    """In the foreground, as one process."""
    return [path, "-p", ".", "-e", "stderr", "-c", FILE]


def checker(path: str) -> list[str]:
    """nginx's own check."""
    return [*command(path), "-t"]
