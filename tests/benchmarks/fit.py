"""The fit at 20 to 400 columns against mbi, with sampling: one table.

    python tests/benchmarks/fit.py            # the same as: prism bench fit --sample

mbi compiles for every table; the whole takes ten minutes or more.
"""

from __future__ import annotations

import sys

from prism_core.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["bench", "fit", "--sample", *sys.argv[1:]]))
