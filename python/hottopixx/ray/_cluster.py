"""A Ray cluster to work on: a running one, or one of our own that nobody else can reach."""

from __future__ import annotations

import importlib
import os
import secrets
import stat
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: The first version whose clusters ask for a token unless told otherwise.
_OLDEST = (2, 60)
#: Ray's word for "clusters are not for this machine": nodes then keep to 127.0.0.1, which no other
#: setting makes them do on Linux.
_LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
_MODE, _TOKEN, _TOKEN_PATH = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"
_USAGE = "RAY_USAGE_STATS_ENABLED"
#: How long the parts of a cluster wait for each other, in milliseconds: Ray gives up after half a
#: minute, which a busy machine may take.
_PATIENCE = {"RAY_agent_register_timeout_ms": "300000"}
#: What fails is raised here, once; Ray need not write it into the terminal as well.
_SILENT = {"RAY_IGNORE_UNHANDLED_ERRORS": "1"}


def need_ray() -> Any:
    """The module `ray`, if it is there and new enough."""
    try:
        import ray
    except ImportError:
        raise ImportError(
            "hottopixx.ray needs Ray: pip install 'hottopixx[ray]', or use hottopixx.factor"
        ) from None
    version = getattr(ray, "__version__", "0")
    if tuple(int(part) for part in version.split(".")[:2]) < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        raise ImportError(
            f"Ray {version} starts clusters that anyone may use: install Ray {oldest} or later"
        )
    return ray


@contextmanager
def cluster(
    address: str | None = None, *, workers: int | None = None, worker_threads: int = 1
) -> Iterator[None]:
    """Connect to a Ray cluster for as long as the context lasts.

    Parameters
    ----------
    address : str, optional
        Of a running cluster, as `ray start` prints it, or "auto" for the one that this machine
        belongs to. None starts a cluster of this machine alone: it listens on the loopback device
        only, asks for a token that only this user can read, reports nothing to anybody, and ends
        with the context.
    workers : int, optional
        Tasks at a time of a cluster of our own (default: processors over `worker_threads`).
    worker_threads : int, default=1
        Threads of each task.

    Examples
    --------
    >>> import hottopixx.ray
    >>> with hottopixx.ray.cluster(workers=2):  # doctest: +SKIP
    ...     first = hottopixx.ray.factor("corpus-2024", 20)
    ...     second = hottopixx.ray.factor("corpus-2025", 20)
    """
    if workers is not None and workers < 1:
        raise ValueError(f"workers is {workers}: give a number from 1")
    if worker_threads < 1:
        raise ValueError(f"worker_threads is {worker_threads}: give a number from 1")
    if sys.modules.get("ray") is not None and sys.modules["ray"].is_initialized():
        # The caller's own connection, which he ends himself.
        connected = sys.modules["ray"].get_runtime_context().gcs_address
        if address not in (None, "auto", connected):
            raise ValueError(f"Ray is connected to {connected}, not to {address}: ray.shutdown()")
        yield
    elif address is not None:
        with _running(address):
            yield
    else:
        with _own(workers, worker_threads):
            yield


@contextmanager
def _running(address: str) -> Iterator[None]:
    ray = need_ray()
    _check_token_file()
    with _environment(_SILENT):
        ray.init(address=address, log_to_driver=False, configure_logging=False)
        try:
            yield
        finally:
            ray.shutdown()


@contextmanager
def _own(workers: int | None, worker_threads: int) -> Iterator[None]:
    """A cluster of this machine alone, started here and stopped here."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    processors = processors or os.cpu_count() or 1
    slots = workers if workers is not None else max(1, processors // worker_threads)
    with alone() as ray:
        _start(ray, slots * worker_threads)
        try:
            addresses = {node["NodeManagerAddress"] for node in ray.nodes()}
            if addresses != {"127.0.0.1"}:
                raise RuntimeError(
                    f"Ray listens on {', '.join(sorted(addresses))}: stopped it; start a cluster "
                    "yourself and give its address"
                )
            yield
        finally:
            ray.shutdown()


def _start(ray: Any, processors: int) -> None:
    """Start a cluster of our own; Ray's own failures are told in a sentence."""
    try:
        ray.init(
            address="local",
            num_cpus=processors,
            dashboard_host="127.0.0.1",
            log_to_driver=False,
            configure_logging=False,
        )
    except Exception as error:
        ray.shutdown()
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise RuntimeError(
            f"Ray could not be started ({reason}): the machine may be too busy or short of memory: "
            "try again, or start a cluster yourself and give its address"
        ) from error


@contextmanager
def alone() -> Iterator[Any]:
    """Ray with settings for clusters that nobody else can reach: loopback only, a token of its own.

    They hold for clusters that are started, and ended, within the context.
    """
    with tempfile.TemporaryDirectory(prefix="hottopixx-") as private:
        token = Path(private) / "token"
        token.touch(mode=stat.S_IRUSR | stat.S_IWUSR)
        token.write_text(secrets.token_hex(32), encoding="ascii")
        settings = {
            _LOOPBACK: "0",
            _MODE: "token",
            _TOKEN: None,
            _TOKEN_PATH: str(token),
            _USAGE: "0",
            **_PATIENCE,
            **_SILENT,
        }
        ray = need_ray()
        try:
            with _environment(settings), _on_loopback(ray):
                _look_at_settings()
                yield ray
        finally:
            _look_at_settings()


@contextmanager
def _environment(changes: Mapping[str, str | None]) -> Iterator[None]:
    """Variables that Ray and the processes it starts see."""
    before = {name: os.environ.get(name) for name in changes}
    try:
        _set(changes)
        yield
    finally:
        _set(before)


def _set(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@contextmanager
def _on_loopback(ray: Any) -> Iterator[None]:
    """Ray reads its variable when it is imported, which may have been long ago."""
    constants = ray._private.ray_constants
    before = constants.ENABLE_RAY_CLUSTER
    constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = before


def _look_at_settings() -> None:
    """Ray keeps the last token and mode it saw: makes it look again."""
    raylet: Any = importlib.import_module("ray._raylet")
    raylet.Config.initialize("")
    raylet.AuthenticationTokenLoader.instance().reset_cache()


def _check_token_file() -> None:
    """Refuses a token that others on this machine could read."""
    if os.environ.get(_TOKEN):
        return
    path = Path(os.environ.get(_TOKEN_PATH) or Path.home() / ".ray" / "auth_token")
    if os.name == "posix" and path.exists() and path.stat().st_mode & 0o077:
        raise PermissionError(
            f"{path} can be read by others, and whoever has the token runs code on the cluster: "
            f"chmod 600 {path}"
        )
