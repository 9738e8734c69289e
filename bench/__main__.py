"""`python -m bench [names…] [--seconds N] [--json] [--profile] [--list]`: run benchmarks and print the table.

Exit codes: 0 every budget met, 1 one was missed or could not be measured, 130 interrupted.
"""

import argparse
import json
import sys

from rich.console import Console

from bench import machine
from bench.catalog import BENCHMARKS
from bench.options import Options
from bench.processes import exclusive, interrupt_on_signals
from bench.report import BenchError, Row, as_json, failed, print_table


def main() -> int:
    """Parse the arguments, run the benchmarks, print the table."""
    arguments = _parser().parse_args()
    interrupt_on_signals()
    try:
        about, groups = _run_all(arguments)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BenchError as error:
        print(error, file=sys.stderr)
        return 1
    if arguments.json:
        print(json.dumps(as_json(groups, about), indent=2, ensure_ascii=False))
    else:
        print_table(groups, about)
    all_met = all(row.verdict in ("met", "") for rows in groups.values() for row in rows)
    return 0 if all_met else 1


def _parser() -> argparse.ArgumentParser:
    names = "\n".join(f"  {name:<12} {benchmark.description}" for name, benchmark in BENCHMARKS.items())
    parser = argparse.ArgumentParser(
        prog="bench",
        description="Measure Headspace against its budgets.",
        epilog=f"benchmarks:\n{names}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="name", type=_known, help="benchmarks to run (default: all)")
    parser.add_argument(
        "--seconds", type=_positive, help="duration of each measurement (default: depends on the benchmark)"
    )
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print the table as JSON")
    output.add_argument("--list", action="store_true", help="path only: print the calls as a tree before the table")
    parser.add_argument("--profile", action="store_true", help="ingest only: profile the daemon, top 30 by own time")
    return parser


def _known(name: str) -> str:
    if name not in BENCHMARKS:
        raise argparse.ArgumentTypeError(f"unknown benchmark {name!r}; choose from {', '.join(BENCHMARKS)}")
    return name


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value <= 600:
        raise argparse.ArgumentTypeError("must be between 0 and 600")
    return value


def _run_all(arguments: argparse.Namespace) -> tuple[str, dict[str, list[Row]]]:
    """The description of the machine, and the rows of every benchmark."""
    with Console(stderr=True).status("") as status, exclusive(status.update):
        options = Options(arguments.seconds, arguments.profile, status.update, arguments.list)
        about = machine.describe()
        return about, {name: _run(name, options) for name in arguments.names or BENCHMARKS}


def _run(name: str, options: Options) -> list[Row]:
    """Run one benchmark. A failure becomes a row with its reason."""
    try:
        return BENCHMARKS[name].run(options)
    except (BenchError, OSError) as error:
        return [failed(name, str(error) or type(error).__name__)]


if __name__ == "__main__":
    sys.exit(main())
