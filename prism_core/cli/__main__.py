"""`python -m prism_core.cli`: the command `prism`."""

import sys

from prism_core.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
