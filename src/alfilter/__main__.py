"""`python -m alfilter`: the command line without its script."""

import sys

from alfilter.cli import main

if __name__ == "__main__":
    sys.exit(main())
