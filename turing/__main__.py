"""``python -m turing``."""

import sys

from turing.cli import main

if __name__ == "__main__":
    sys.exit(main())
