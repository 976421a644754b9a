"""
The benchmarks of docs/benchmarks.md: measured, kept as JSON, drawn and told.

`make figures` measures all parts; `PARTS="tabs soak"` only those. The figures of each
part stand in docs/benchmarks/results.json with date, load and versions.
"""
