"""Runs a design: exactly (`execute`), request by request, as jobs and servers, and on real processes."""
