"""The command `prism reproduce`: the paper's tables and figures, and what was reached, in files."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism_core import files
from prism_core.errors import ConfigError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from prism_core.reproduction import Benchmark, ResultRow, RunOutcome

_OWN = ("readmission", "readmission-stays")
_PAPER = ("scm-spurious", "scm-marginal", "adult", "allocation-wins")
_DESCRIPTION = """
Every table is generated or public, and every run is seeded: nothing is charged, and no release can
be made from here. Settings: `paper` (basic composition, classic Gaussian, naive Bayes) and `ours`
(zCDP, graphical model, adaptive marginals).
"""


def add(commands: Any) -> None:  # noqa: ANN401  (argparse's type is private)
    """Add `reproduce` and its experiments to the program's commands."""
    parser = commands.add_parser(
        "reproduce",
        help="the paper's tables, rivals beside them, and the file of results",
        description=_DESCRIPTION,
    )
    parts = parser.add_subparsers(required=True, metavar="EXPERIMENT")
    for name in (*_PAPER, *_OWN):
        whose = "a table of our own," if name in _OWN else "the paper's benchmark"
        one = parts.add_parser(name, help=f"{whose} {name}")
        if name == "adult":
            _adult(one)
        _options(one)
        one.set_defaults(run=_one, benchmark=name)
    network = parts.add_parser("bn", help="a published Bayesian network (extra `networks`)")
    network.add_argument("--network", required=True, metavar="child|alarm|insurance|hepar2")
    network.add_argument("--target", metavar="NODE", help="instead of the network's default")
    _options(network)
    network.set_defaults(run=_network)
    together = parts.add_parser(
        "interactions", help="causes that act together, with gradient boosting"
    )
    together.add_argument("--epsilon", type=float, default=1.0, metavar="E")
    together.add_argument("--seeds", type=int, default=3, metavar="N", help="runs of each line")
    together.set_defaults(run=_interactions)
    _add_all(parts)
    table = parts.add_parser(
        "table", help="make the page of results and the short table anew from the file of results"
    )
    table.add_argument("results", type=Path, metavar="RESULTS.json")
    table.add_argument("--readme", type=Path, metavar="FILE", help="a text with the two marks")
    table.set_defaults(run=_table)


def _add_all(parts: Any) -> None:  # noqa: ANN401
    everything = parts.add_parser("all", help="all of it, into the file of results")
    everything.add_argument("--out", type=Path, required=True, metavar="RESULTS.json")
    everything.add_argument(
        "--benchmarks",
        metavar="NAME,NAME,...",
        help="default: the paper's four, readmission, readmission-stays, bn:child, bn:alarm, "
        "bn:insurance, bn:hepar2",
    )
    everything.add_argument("--readme", type=Path, metavar="FILE", help="make its table anew, too")
    everything.add_argument(
        "--fresh", action="store_true", help="forget the old file instead of merging into it"
    )
    _adult(everything)
    _options(everything, printed=False)
    everything.set_defaults(run=_all)


def _adult(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--adult",
        type=Path,
        metavar="FILE",
        default=os.environ.get("PRISM_ADULT_CSV"),
        help="the integer-coded adult.csv (or PRISM_ADULT_CSV); else it is fetched from OpenML",
    )


def _options(parser: argparse.ArgumentParser, *, printed: bool = True) -> None:
    parser.add_argument("--epsilon", default="", metavar="E,E,...", help="default: the paper's")
    parser.add_argument("--seeds", type=int, default=10, metavar="N", help="runs of each line")
    parser.add_argument("--methods", default="", metavar="NAME,NAME,...")
    parser.add_argument("--setting", choices=("paper", "ours"), help="one of the two only")
    parser.add_argument(
        "--rows",
        "-n_syn",
        default="",
        metavar="N|n,...",
        help="synthetic rows; n: as many as training rows",
    )
    parser.add_argument("--jobs", type=int, metavar="N", help="processes (default: the cores)")
    if not printed:
        return
    parser.add_argument("--figure", type=Path, metavar="FILE.html", help="write the figures")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--csv", action="store_true", help="print CSV")


def _one(arguments: argparse.Namespace) -> None:
    from prism_core.reproduction import benchmark

    _print(arguments, benchmark(arguments.benchmark, getattr(arguments, "adult", None)))


def _network(arguments: argparse.Namespace) -> None:
    from prism_core.reproduction import network_benchmark

    _print(arguments, network_benchmark(arguments.network, arguments.target))


def _interactions(arguments: argparse.Namespace) -> None:
    from prism_core.privacy.parameters import epsilon_value
    from prism_core.reproduction.interactions import REGIMES, interactions

    epsilon = epsilon_value(arguments.epsilon)
    if arguments.seeds < 1:
        raise ConfigError("--seeds must be a whole number above 0.", field="seeds")
    head = ("table", "real rows", *REGIMES, "Tab-PE, quoted")
    sys.stdout.write(_columns(head))
    for line in interactions(epsilon, arguments.seeds):
        sys.stdout.write(_columns(line.cells()))
        sys.stdout.flush()  # a line takes a minute


def _columns(cells: Sequence[str]) -> str:
    return f"{cells[0]:24}" + "".join(f"{cell:>16}" for cell in cells[1:]) + "\n"


def _print(arguments: argparse.Namespace, chosen: Benchmark) -> None:
    from prism_core.reproduction import rows
    from prism_core.reproduction.result_tables import as_csv, as_text

    if arguments.figure is not None:
        # Before the runs, which may take hours.
        _check_folder(arguments.figure)
    found = sorted(rows(_told(arguments, chosen)), key=lambda row: _order(row, chosen))
    if arguments.json:
        document = {"benchmark": chosen.name, "rows": [row.to_dict() for row in found]}
        text = json.dumps(document, allow_nan=False)
    else:
        text = as_csv(found).rstrip("\n") if arguments.csv else as_text(found)
    sys.stdout.write(f"{text}\n")
    if arguments.figure is not None:
        _draw(found, chosen, arguments.figure)


def _order(row: ResultRow, chosen: Benchmark) -> tuple[Any, ...]:
    # A file of results may hold methods that the benchmark no longer lists: they come last.
    listed = {name: place for place, name in enumerate(chosen.methods)}
    return (row.setting, row.rows, row.epsilon, listed.get(row.method, len(listed)), row.method)


def _draw(found: Sequence[ResultRow], chosen: Benchmark, out: Path) -> None:
    from prism_core.figures import paper_figures
    from prism_core.figures.theme import html_pages
    from prism_core.reproduction.result_tables import title

    drawn = []
    # A figure for each number of rows: lines of one figure must differ in method alone.
    for size in dict.fromkeys(row.rows for row in found):
        some = [row for row in found if row.rows == size]
        for one in paper_figures(some, f"{chosen.title}, {size:,} synthetic rows", title):
            drawn.append((one.title, one.figure, one.words))
    files.give(out, html_pages(drawn))


def _told(arguments: argparse.Namespace, chosen: Benchmark) -> Iterator[RunOutcome]:
    """The outcomes, with a line to the terminal for each."""
    from prism_core.reproduction import run, wanted

    asked = _asked(arguments)
    # A run gives one outcome for each number of rows.
    total = sum(len(one.sizes) for one in wanted(chosen, **asked))
    # Not os.cpu_count: a container or taskset may leave this process fewer cores.
    jobs = arguments.jobs or len(os.sched_getaffinity(0))
    for count, outcome in enumerate(run(chosen, **asked, jobs=jobs), start=1):
        sys.stderr.write(
            f"{chosen.name} {count}/{total}: {outcome.method}, {outcome.setting}, epsilon "
            f"{outcome.epsilon:g}, seed {outcome.seed}: AUC {outcome.onehot.auc:.4f}, "
            f"{outcome.seconds:.2f} s\n"
        )
        yield outcome


def _asked(arguments: argparse.Namespace) -> dict[str, Any]:
    from prism_core.rehearsal.variants import epsilons_of

    sizes = tuple(map(_size, _parts(arguments.rows)))
    return {
        "methods": _parts(arguments.methods),
        "settings": (arguments.setting,) if arguments.setting else (),
        "epsilons": epsilons_of(arguments.epsilon),
        "seeds": arguments.seeds,
        "sizes": sizes,
    }


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _size(text: str) -> int | None:
    if text == "n":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise ConfigError("--rows takes whole numbers above 0, or n.", field="rows")
    return int(text)


def _check_folder(file: Path) -> None:
    if not file.parent.is_dir():
        raise ConfigError("The folder of the file does not exist.", field=file.name)


def _all(arguments: argparse.Namespace) -> None:
    from prism_core.reproduction import NETWORKS, Results, load_results, rows, this_command

    _check_folder(arguments.out)
    names = _parts(arguments.benchmarks or "") or (
        *_PAPER,
        *_OWN,
        *(f"bn:{name}" for name in NETWORKS),
    )
    chosen = [_chosen(name, arguments.adult) for name in names]
    for one in chosen:
        one.draw(0)  # what is missing (a file, a package) shows now, not after hours
    book = Results() if arguments.fresh else load_results(arguments.out)
    for one in chosen:
        found = rows(_told(arguments, one))
        # Benchmark by benchmark: each row names the command that makes it alone.
        book = book.merged(found, this_command(_command(arguments, one.name)))
        _write(arguments.out, book.to_text())  # what is done stands, whatever comes after
    _write_tables(arguments.out, book, arguments.readme)


def _chosen(name: str, adult: Path | None) -> Benchmark:
    from prism_core.reproduction import benchmark, network_benchmark

    if not name.startswith("bn:"):
        return benchmark(name, adult)
    network, _, target = name.removeprefix("bn:").partition(":")
    return network_benchmark(network, target or None)


def _command(arguments: argparse.Namespace, name: str) -> str:
    """What made the rows, in a form that can be typed again; places of this machine stay out."""
    # Without --jobs and --adult: rows do not depend on them, and a place is of this machine.
    wishes = {
        "--epsilon": arguments.epsilon,
        "--seeds": str(arguments.seeds),
        "--methods": arguments.methods,
        "--setting": arguments.setting or "",
        "--rows": arguments.rows,
    }
    options = " ".join(f"{option} {value}" for option, value in wishes.items() if value)
    return f"prism reproduce all --out docs/results.json --benchmarks {name} {options}"


def _table(arguments: argparse.Namespace) -> None:
    from prism_core.reproduction import load_results

    if not arguments.results.is_file():
        raise ConfigError("There is no such file of results.", field="results")
    _write_tables(arguments.results, load_results(arguments.results), arguments.readme)


def _write_tables(results: Path, book: Any, readme: Path | None) -> None:  # noqa: ANN401
    from prism_core.reproduction.result_tables import document, with_headline

    page = results.with_suffix(".md")
    _write(page, document(book))
    if readme is not None:
        _write(readme, with_headline(readme.read_text(encoding="utf-8"), book))
    written = [results.name, page.name, *([readme.name] if readme else [])]
    sys.stdout.write(f"wrote {', '.join(written)}: {len(book.rows)} lines\n")


def _write(file: Path, text: str) -> None:
    """All of it or nothing."""
    files.give(file, text.encode("utf-8"))
