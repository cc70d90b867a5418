"""`python -m hitl_core`: the command `hitl` of this Python."""

import sys

from hitl_core.cli import main

if __name__ == "__main__":
    sys.exit(main())
