"""Benchmarks: one module per engine, each with `rows() -> Iterable[Row]`; `python -m bench ENGINE --json` runs one."""
