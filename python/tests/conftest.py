"""Set up before anything is imported."""

import os

# Lets scikit-learn's check of array API input run; it skips it otherwise.
os.environ["SCIPY_ARRAY_API"] = "1"
