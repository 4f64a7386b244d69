"""What must work with nothing but numpy and scipy: run by itself in an environment without more."""

import importlib.util

import scipy.sparse as sp

import hottopixx
import hottopixx.ray

for name in ("sklearn", "pandas", "IPython", "ray", "pyarrow"):
    assert importlib.util.find_spec(name) is None, f"{name} is here: not a bare environment"
instance = hottopixx.generate("paper", features=40, examples=400, rank=5, noise=0.25)
for X in (instance.X, sp.csr_array(instance.X)):
    assert instance.recall(hottopixx.factor(X, 5).hott) == 1.0
assert hottopixx.certify(instance.X, 5).verified
for name in ("Hottopixx", "HottTopics"):
    try:
        getattr(hottopixx, name)
    except ImportError as error:
        assert f"hottopixx.{name}" in str(error) and "install scikit-learn" in str(error)
    else:
        raise AssertionError("the estimator came without scikit-learn")
assert hottopixx.cooccurrence(sp.csr_array([[1, 2], [3, 0]])).shape == (2, 2)
found = hottopixx.ray.factor(instance.X.T, 5, address="inline")
assert instance.recall(found.hott) == 1.0
try:
    hottopixx.ray.factor(instance.X.T, 5)
except ImportError as error:
    assert "hottopixx[ray]" in str(error)
else:
    raise AssertionError("a cluster came without Ray")
print("works with numpy and scipy alone")
