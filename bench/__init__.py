"""The benchmarks of Headspace: `python -m bench [names…]`, or `bin/bench`.

Each benchmark is one module with a `run(options)` that returns rows; `catalog.py` is the table of them. A benchmark
starts what it measures as real processes with a scratch home, on 127.0.0.1, and ends each of them by its pid.
"""
