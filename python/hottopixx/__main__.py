"""The program from the wheel, as `hottopixx` or `python -m hottopixx`."""

from __future__ import annotations

import signal
import sys

from . import _native


def main() -> int:
    """Run the program with the words of this process's command line.

    Returns
    -------
    int
        The exit code: 0 done, 1 wrong data or options, 2 usage, 3 no answer, 130 interrupted.
    """
    # Ctrl-C is the program's: it ends at once, or with the best answer so far.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(["hottopixx", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
