"""Serves requests by the standard library's HTTP server, one process for each worker, on one listening socket.

    python foreign_backend.py PORT WORKERS MEAN

A request sleeps for an exponential time of this mean (s), of a seed of its own.  The queue is the kernel's, and who
takes from it is the kernel's choice: nothing here is of the testbed.  Each request is logged by the server itself.
"""

from __future__ import annotations

import os
import random
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    """Sleeps, then answers."""

    mean = 0.0

    def do_GET(self) -> None:
        if self.path != "/ready":
            time.sleep(random.expovariate(1 / self.mean))
        self.send_response(200)
        self.send_header("Content-Length", "6")
        self.end_headers()
        self.wfile.write(b"ready\n")


class Server(HTTPServer):
    """Keeps what comes in the kernel's queue."""

    request_queue_size = 4096


if __name__ == "__main__":
    Handler.mean = float(sys.argv[3])
    server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
    for _ in range(int(sys.argv[2]) - 1):
        if os.fork() == 0:
            break
    random.seed()
    server.serve_forever()
