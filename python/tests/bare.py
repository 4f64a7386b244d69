"""What must work with nothing but numpy and scipy: run by itself in an environment without more."""

import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

import scipy.sparse as sp

import hottopixx
import hottopixx.ray

for name in ("sklearn", "pandas", "polars", "matplotlib", "IPython", "ray", "pyarrow"):
    assert importlib.util.find_spec(name) is None, f"{name} is here: not a bare environment"
instance = hottopixx.generate("paper", features=40, examples=400, rank=5, noise=0.25)
for X in (instance.X, sp.csr_array(instance.X)):
    assert instance.recall(hottopixx.factor(X, 5).hott) == 1.0
assert hottopixx.certify(instance.X, 5).verified
for name in ("Hottopixx", "HottSamples", "HottTopics"):
    try:
        getattr(hottopixx, name)
    except ImportError as error:
        assert f"hottopixx.{name}" in str(error) and "install scikit-learn" in str(error)
    else:
        raise AssertionError("the estimator came without scikit-learn")
assert hottopixx.cooccurrence(sp.csr_array([[1, 2], [3, 0]])).shape == (2, 2)
found = hottopixx.ray.factor(instance.X.T, 5, address="inline")
assert instance.recall(found.hott) == 1.0
answer = hottopixx.factor(instance.X, "auto", effort="quick")
assert len(answer.hott) == 5 and len(answer.members(0)) == 10
with tempfile.TemporaryDirectory() as folder:
    answer.report(f"{folder}/report.html")
    answer.save(f"{folder}/answer.hott")
    assert hottopixx.load(f"{folder}/answer.hott").hott_names == answer.hott_names
for missing, wanted in ((answer.to_frame, "pandas"), (answer.plot.errors, "matplotlib")):
    try:
        missing()
    except ImportError as error:
        assert f"pip install {wanted}" in str(error)
    else:
        raise AssertionError(f"it came without {wanted}")
program = Path(sys.executable).with_name("hottopixx")
said = subprocess.run([program, "-V"], capture_output=True, text=True, check=True).stdout
assert said == f"hottopixx {hottopixx.__version__}\n"
try:
    hottopixx.ray.factor(instance.X.T, 5)
except ImportError as error:
    assert "hottopixx[ray]" in str(error)
else:
    raise AssertionError("a cluster came without Ray")
print("works with numpy and scipy alone")
