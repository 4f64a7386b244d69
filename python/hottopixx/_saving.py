"""Answers and fitted estimators as files: numpy arrays and JSON in a zip archive, no pickle."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ._answer import Factorization, from_said
from ._arrays import is_sparse, to_native
from ._certificate import Certificate
from ._native import __version__
from ._path import RankPath, RankPoint, as_said

if TYPE_CHECKING:
    import os

    from ._results import Certified

#: What the files say that they are.
_FORMAT = "hottopixx"
_TEXT = "answer"
_HASH = "sha256"


def save_answer(answer: Factorization, path: str | os.PathLike[str]) -> None:
    """See `Factorization.save`."""
    said, arrays = _parts(answer)
    _write(path, {"kind": "factorization", "factorization": said}, arrays)


def save_certified(found: Certified, path: str | os.PathLike[str]) -> None:
    """See `Certified.save`."""
    said, arrays = _parts(found.answer)
    proof = {k: v for k, v in found.__dict__.items() if k not in ("answer", "certificate")}
    proof["certificate"] = None if found.certificate is None else asdict(found.certificate)
    proof["theorem"] = None if found.theorem is None else asdict(found.theorem)
    _write(path, {"kind": "certified", "factorization": said, "proof": proof}, arrays)


def save_estimator(
    model: Any,
    path: str | os.PathLike[str],
    arrays: dict[str, Any],
    facts: dict[str, Any],
) -> None:
    """Writes a fitted estimator: its parameters, its answer, and what else it keeps.

    `restore_features` reads what all of them keep.
    """
    names = getattr(model, "feature_names_in_", None)
    facts = {
        "n_features_in_": model.n_features_in_,
        "dtype": model.components_.dtype.str,
        "feature_names_in_": None if names is None else list(names),
        **facts,
    }
    parameters = dict(model.get_params(deep=False))
    for name, value in parameters.items():
        if value is None or isinstance(value, (bool, int, float, str)):
            continue
        # The state of a generator has moved on.
        drawn = isinstance(value, (np.random.RandomState, np.random.Generator))
        parameters[name] = None if drawn else _plain(value)
    said, inner = _parts(model.result_)
    kept = {
        "kind": "estimator",
        "class": type(model).__name__,
        "parameters": parameters,
        "facts": facts,
        "factorization": said,
    }
    _write(path, kept, {**inner, **{f"model_{name}": a for name, a in arrays.items()}})


def restore_features(model: Any, facts: dict[str, Any]) -> Any:
    """What every estimator knows of features, from its file; gives the type of its numbers."""
    model.n_features_in_ = facts["n_features_in_"]
    if facts["feature_names_in_"] is not None:
        model.feature_names_in_ = np.array(facts["feature_names_in_"], dtype=object)
    return np.dtype(facts["dtype"])


def _plain(value: Any) -> Any:
    """Lists and dicts of numbers and words, for JSON."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value if value is None or isinstance(value, str) else np.asarray(value).tolist()


def load(path: str | os.PathLike[str]) -> Any:
    """Read what `save` wrote: an answer, a fitted estimator, or a topic model.

    Parameters
    ----------
    path : path-like
        The file; also the folder of `hottopixx factor --out` or `hottopixx topics --out`, or the
        `model.json` of the latter.

    Returns
    -------
    Factorization, Certified, Hottopixx, HottSamples or HottTopics
        What was saved. It has no data: `path` and the like then ask for them.

    Raises
    ------
    ValueError
        When the file is none of ours, or is damaged.

    Examples
    --------
    >>> import tempfile, hottopixx
    >>> answer = hottopixx.factor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], 2)
    >>> file = tempfile.gettempdir() + "/answer.hott"
    >>> answer.save(file)
    >>> hottopixx.load(file).hott_names == answer.hott_names
    True
    """
    path = Path(path)
    if path.is_dir() and not (path / "model.json").exists():
        from ._folder import load_folder

        return load_folder(path)
    if path.is_dir() or not zipfile.is_zipfile(path):
        from ._topics import HottTopics

        return HottTopics.load(path)
    kept, arrays = _read(path)
    answer = _answer(kept["factorization"], arrays)
    if kept["kind"] == "factorization":
        return answer
    if kept["kind"] == "certified":
        from ._results import Certified, Theorem

        proof = kept["proof"]
        for name, kind in (("certificate", Certificate), ("theorem", Theorem)):
            proof[name] = None if proof[name] is None else kind(**proof[name])
        return Certified(answer=answer, **proof)
    import hottopixx

    model = getattr(hottopixx, kept["class"])(**kept["parameters"])
    held = {n.removeprefix("model_"): a for n, a in arrays.items() if n.startswith("model_")}
    model._restore(answer, held, kept["facts"])
    return model


def _parts(answer: Factorization) -> tuple[dict[str, Any], dict[str, Any]]:
    """An answer as what is no array, and arrays."""
    known = answer.__dict__.get("_path")
    said = {
        **answer._said(),
        "names": answer.names,
        "path": None if known is None else as_said(known),
        "data": _fingerprint(answer),
    }
    arrays = {"per_row": answer.error.per_row}
    if answer.diagonal is not None:
        arrays["diagonal"] = answer.diagonal
    for name, factor in (("F", answer.F), ("W", answer.W), ("completed", answer.completed)):
        if factor is None:
            continue
        if is_sparse(factor):
            sparse: Any = sp.csr_array(factor)
            parts = {"data": sparse.data, "indices": sparse.indices, "indptr": sparse.indptr}
            arrays |= {f"{name}_{part}": values for part, values in parts.items()}
            arrays[f"{name}_shape"] = np.array(sparse.shape)
        else:
            arrays[name] = np.asarray(factor)
    return said, arrays


def _fingerprint(answer: Factorization) -> dict[str, Any] | None:
    """The size and the hash of the data, where they are at hand."""
    if answer.source is None:
        return None
    matrix = to_native(answer.source.X)
    digest = hashlib.sha256()
    parts = (matrix,) if isinstance(matrix, np.ndarray) else matrix[1:]
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    shape = matrix.shape if isinstance(matrix, np.ndarray) else matrix[0]
    return {"shape": [int(side) for side in shape], _HASH: digest.hexdigest()}


def _answer(said: dict[str, Any], arrays: dict[str, Any]) -> Factorization:
    def factor(name: str) -> Any:
        if name in arrays:
            return arrays[name]
        parts = tuple(arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
        rows, cols = (int(side) for side in arrays[f"{name}_shape"])
        return sp.csr_array(parts, shape=(rows, cols))

    diagonal = arrays.get("diagonal")
    answer = from_said(said, (factor("F"), factor("W"), arrays["per_row"], diagonal), said["names"])
    if "completed" in arrays or "completed_shape" in arrays:
        object.__setattr__(answer, "completed", factor("completed"))
    with_path(answer, said["path"])
    return answer


def with_path(answer: Factorization, path: Any) -> None:
    """Gives the answer the path that was saved with it, if one was."""
    if path is None:
        return
    points = [
        RankPoint(p["rank"], p["hott"], **p["error"], lower_bound=p["lower_bound"])
        for p in path["points"]
    ]
    # The program says once why both ended.
    stop = path.get("stop", answer.stop)
    kept = RankPath(points, path["suggested"], path["reason"], stop, answer.noun, answer.names)
    object.__setattr__(answer, "_path", kept)


def _digest(text: str, arrays: dict[str, Any]) -> str:
    """The hash of everything in a file."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _write(path: str | os.PathLike[str], kept: dict[str, Any], arrays: dict[str, Any]) -> None:
    text = json.dumps({"format": _FORMAT, "version": __version__, **kept}, ensure_ascii=False)
    texts = {_TEXT: np.array(text), _HASH: np.array(_digest(text, arrays))}
    # A file beside it first: what was there stays whole until the new one is.
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder: give the name of a file in it")
    partial = path.with_name(path.name + ".partial")
    try:
        with open(partial, "wb") as file:
            np.savez_compressed(file, allow_pickle=False, **texts, **arrays)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        with np.load(path, allow_pickle=False) as held:
            arrays = {name: held[name] for name in held}
        text, digest = str(arrays.pop(_TEXT)), str(arrays.pop(_HASH))
        kept = json.loads(text)
    except (KeyError, ValueError, OSError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"{path} is no answer of hottopixx ({error}): give a file that save() wrote"
        ) from None
    if kept.get("format") != _FORMAT:
        raise ValueError(f"{path} is no answer of hottopixx: give a file that save() wrote")
    if _digest(text, arrays) != digest:
        raise ValueError(f"{path} is damaged: what it holds does not have the hash that it names")
    return kept, arrays
