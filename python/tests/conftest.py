"""Set up before anything is imported."""

import os
import signal

# Lets scikit-learn's check of array API input run; it skips it otherwise.
os.environ["SCIPY_ARRAY_API"] = "1"

# A shell that runs the tests in the background has them ignore Ctrl-C, which some of them send.
signal.signal(signal.SIGINT, signal.default_int_handler)
