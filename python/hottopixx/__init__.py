"""Find the few columns of a nonnegative matrix that explain all the others; topics of documents.

`HottTopics` takes documents, or counts of words, and finds topics that are named by a word each.
`Hottopixx` takes samples x features and finds a few features of which all others are nonnegative
mixtures. Both are scikit-learn estimators. The functions are in the orientation of the paper
*Factoring nonnegative matrices with linear programs* (Bittorf, Recht, Ré, Tropp): rows are
features, columns are examples.

Arrays must not be changed by other threads while a call is under way.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._advice import AdviceWarning
from ._files import NamedMatrix, read
from ._functions import certify, compare, evaluate, factor, snpa, spa, xray
from ._native import InfeasibleError, NoAnswerError, __version__
from ._results import (
    Certificate,
    Certified,
    Comparison,
    Errors,
    Factorization,
    Instance,
    L1Fit,
    Theorem,
)
from ._tools import cooccurrence, generate, l1_fit, squish

if TYPE_CHECKING:
    from ._estimator import Hottopixx
    from ._topics import HottTopics

__all__ = [
    "AdviceWarning",
    "Certificate",
    "Certified",
    "Comparison",
    "Errors",
    "Factorization",
    "HottTopics",
    "Hottopixx",
    "InfeasibleError",
    "Instance",
    "L1Fit",
    "NamedMatrix",
    "NoAnswerError",
    "Theorem",
    "__version__",
    "certify",
    "compare",
    "cooccurrence",
    "evaluate",
    "factor",
    "generate",
    "l1_fit",
    "read",
    "snpa",
    "spa",
    "squish",
    "xray",
]


#: They alone need scikit-learn, so they are imported when they are asked for.
_ESTIMATORS = {"HottTopics": "._topics", "Hottopixx": "._estimator"}


def __getattr__(name: str) -> Any:
    if name not in _ESTIMATORS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(_ESTIMATORS[name], __name__), name)
    except ImportError as error:
        if not (error.name or "").startswith("sklearn"):
            raise
        raise ImportError(
            f"hottopixx.{name} is a scikit-learn estimator: install scikit-learn 1.6 or later "
            "(pip install 'hottopixx[sklearn]'), or use hottopixx.factor, which does not need it"
        ) from error


def __dir__() -> list[str]:
    return sorted(__all__)
