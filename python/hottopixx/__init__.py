"""Find the few columns of a nonnegative matrix that explain all the others.

`Hottopixx` is a scikit-learn estimator: samples x features in, a few features out, and all other
features as nonnegative mixtures of these. The functions are in the orientation of the paper
*Factoring nonnegative matrices with linear programs* (Bittorf, Recht, Ré, Tropp): rows are
features, columns are examples.

Arrays must not be changed by other threads while a call is under way.
"""

from typing import TYPE_CHECKING, Any

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

__all__ = [
    "Certificate",
    "Certified",
    "Comparison",
    "Errors",
    "Factorization",
    "Hottopixx",
    "InfeasibleError",
    "Instance",
    "L1Fit",
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
    "snpa",
    "spa",
    "squish",
    "xray",
]


def __getattr__(name: str) -> Any:
    # The estimator alone needs scikit-learn, so it is imported when it is asked for.
    if name == "Hottopixx":
        from ._estimator import Hottopixx

        return Hottopixx
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
