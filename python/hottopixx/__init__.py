"""Find the few columns of a nonnegative matrix that explain all the others; topics of documents.

`HottTopics` takes documents, or counts of words, and finds topics that are named by a word each.
`Hottopixx` takes samples x features and finds a few features of which all others are nonnegative
mixtures, `HottSamples` a few samples of which all others are. They are scikit-learn estimators. The
functions are in the orientation of the paper
*Factoring nonnegative matrices with linear programs* (Bittorf, Recht, Ré, Tropp): rows are
features, columns are examples.

Arrays must not be changed by other threads while a call is under way.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._native import InfeasibleError, NoAnswerError, __version__

if TYPE_CHECKING:
    from ._advice import AdviceWarning
    from ._answer import Applied, Factorization
    from ._certificate import Certificate, Errors
    from ._estimator import Hottopixx
    from ._files import NamedMatrix, read
    from ._functions import certify, compare, evaluate, factor, held_out, snpa, spa, xray
    from ._later import AppliedColumns, Changes
    from ._path import HeldOut, RankPath, RankPoint
    from ._results import Certified, Comparison, Instance, L1Fit, Theorem
    from ._samples import HottSamples
    from ._saving import load
    from ._tools import cooccurrence, generate, l1_fit, squish
    from ._topic_changes import TopicChanges
    from ._topics import HottTopics

__all__ = [
    "AdviceWarning",
    "Applied",
    "AppliedColumns",
    "Certificate",
    "Certified",
    "Changes",
    "Comparison",
    "Errors",
    "Factorization",
    "HeldOut",
    "HottSamples",
    "HottTopics",
    "Hottopixx",
    "InfeasibleError",
    "Instance",
    "L1Fit",
    "NamedMatrix",
    "NoAnswerError",
    "RankPath",
    "RankPoint",
    "Theorem",
    "TopicChanges",
    "__version__",
    "certify",
    "compare",
    "cooccurrence",
    "evaluate",
    "factor",
    "generate",
    "held_out",
    "l1_fit",
    "load",
    "read",
    "snpa",
    "spa",
    "squish",
    "xray",
]

#: What is imported when it is asked for: the program needs neither numpy nor scipy, and the
#: functions no scikit-learn.
_WHERE = {
    "_advice": ("AdviceWarning",),
    "_answer": ("Applied", "Factorization"),
    "_certificate": ("Certificate", "Errors"),
    "_estimator": ("Hottopixx",),
    "_files": ("NamedMatrix", "read"),
    "_functions": ("certify", "compare", "evaluate", "factor", "held_out", "snpa", "spa", "xray"),
    "_later": ("AppliedColumns", "Changes"),
    "_path": ("HeldOut", "RankPath", "RankPoint"),
    "_results": ("Certified", "Comparison", "Instance", "L1Fit", "Theorem"),
    "_samples": ("HottSamples",),
    "_saving": ("load",),
    "_tools": ("cooccurrence", "generate", "l1_fit", "squish"),
    "_topic_changes": ("TopicChanges",),
    "_topics": ("HottTopics",),
}
_MODULE = {name: module for module, names in _WHERE.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(import_module(f".{_MODULE[name]}", __name__), name)
    except ImportError as error:
        if not (error.name or "").startswith("sklearn"):
            raise
        raise ImportError(
            f"hottopixx.{name} is a scikit-learn estimator: install scikit-learn 1.6 or later "
            "(pip install 'hottopixx[sklearn]'), or use hottopixx.factor, which does not need it"
        ) from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
