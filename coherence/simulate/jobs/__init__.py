"""Synchronous jobs: ranks that meet at a barrier in every step, save, fail, and go back to the last save.

`job` says what a job is; `run.simulate` executes it (`steps` draws the steps, `nodes` fail, `record` is what
happened); `ledger` accounts for every rank-second, `blame` says what caused each loss, `series` writes the
telemetry; `of_design` reads jobs from a design and `agents` agent loops; `closed_forms` has what is known exactly.
"""
