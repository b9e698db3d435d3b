"""Counting at 1, 5 and 20 million rows against DuckDB's grouping sets: a table on the screen.

python tests/benchmarks/count.py [--rows 1000000 5000000]
"""

from __future__ import annotations

import argparse

from prism_core.bench import count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 5_000_000, 20_000_000])
    for rows in parser.parse_args().rows:
        print(count.text(count.measure(rows)), flush=True)


if __name__ == "__main__":
    main()
