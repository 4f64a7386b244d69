"""Who carries tasks out: Ray, or this process itself."""

from __future__ import annotations

import os
import socket
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from .._native import __version__
from ._cluster import need_ray

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Tasks are tried so often again when their worker or node dies.
_RETRIES = 4
#: Seconds between two looks at what is done, and at the memory of a worker.
_LOOK, _GLANCE = 0.2, 0.02


@dataclass(frozen=True)
class Task:
    """A function that has been called, or will be."""

    #: Its result, or its results where it returns several: values, or Ray's references to them.
    results: list[Any]
    #: The worker and its memory, when it is done.
    done: Any

    @property
    def result(self) -> Any:
        """The only result."""
        (result,) = self.results
        return result


class Engine(Protocol):
    """Calls functions, here or elsewhere."""

    #: Tasks at a time.
    slots: int
    #: Threads of each.
    threads: int
    #: The most bytes that each worker has held for itself.
    peaks: dict[str, int]

    def put(self, value: Any) -> Any:
        """Something that is here, to give to many tasks."""

    def run(
        self, name: str, function: Callable[..., Any], *args: Any, returns: int | None = None
    ) -> Task:
        """Calls a function; results of other tasks among the arguments are waited for.

        `returns` is how many results it returns, where it returns them as a sequence.
        """

    def get(self, result: Any) -> Any:
        """The value of a result."""

    def wait(self, tasks: Sequence[Task], tell: Callable[[int], object]) -> None:
        """Returns when all are done, and raises what one of them raised."""

    def memory(self) -> int:
        """Bytes that each slot may use."""


class Inline:
    """One task after the other in this process, without Ray."""

    slots = 1

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.peaks: dict[str, int] = {}

    def put(self, value: Any) -> Any:
        """The value itself."""
        return value

    def run(
        self, name: str, function: Callable[..., Any], *args: Any, returns: int | None = None
    ) -> Task:
        """Calls it at once."""
        *results, done = call(__version__, function, returns, *args)
        self.peaks.update([done])
        return Task(results, done)

    def get(self, result: Any) -> Any:
        """It is there."""
        return result

    def wait(self, tasks: Sequence[Task], tell: Callable[[int], object]) -> None:
        """They are done."""
        tell(len(tasks))

    def memory(self) -> int:
        """No limit that we know of."""
        return 1 << 62


class OnRay:
    """Tasks on the cluster that this process is connected to."""

    def __init__(self, threads: int) -> None:
        self._ray = need_ray()
        self.threads = threads
        self.peaks: dict[str, int] = {}
        nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        most = max(int(resources.get("CPU", 0)) for resources in nodes)
        if threads > most:
            raise ValueError(
                f"worker_threads is {threads}, but no node has more than {most} processors for "
                "Ray: give no more"
            )
        self.slots = sum(int(resources.get("CPU", 0)) // threads for resources in nodes)
        self._memory = int(sum(resources.get("memory", 0) for resources in nodes) / self.slots)
        self._call = self._ray.remote(call)
        #: Tasks that may not be done yet.
        self._open: set[Any] = set()

    def put(self, value: Any) -> Any:
        """Into shared memory."""
        return self._ray.put(value)

    def run(
        self, name: str, function: Callable[..., Any], *args: Any, returns: int | None = None
    ) -> Task:
        """A task of one slot, tried again elsewhere when its worker dies."""
        task = self._call.options(
            name=f"hottopixx: {name}",
            num_cpus=self.threads,
            num_returns=(returns or 1) + 1,
            max_retries=_RETRIES,
        )
        *results, done = task.remote(__version__, function, returns, *args)
        self._open.add(done)
        return Task(results, done)

    def get(self, result: Any) -> Any:
        """The value, or the error of the function itself."""
        try:
            return self._ray.get(result)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self._ray.exceptions.RayError as error:
            reason = str(error).strip().partition("\n")[0]
            raise RuntimeError(
                f"Ray gave a task up ({reason[:300]}): if workers ran out of memory, lower "
                "worker_memory; if they cannot import hottopixx, install it on every node"
            ) from error

    def wait(self, tasks: Sequence[Task], tell: Callable[[int], object]) -> None:
        """Looks from time to time; an error ends it at once, and all other tasks are called off."""
        waiting = [task.done for task in tasks]
        try:
            while waiting:
                tell(len(tasks) - len(waiting))
                done, waiting = self._ray.wait(waiting, num_returns=len(waiting), timeout=_LOOK)
                self._open.difference_update(done)
                for worker, peak in map(self.get, done):
                    self.peaks[worker] = max(peak, self.peaks.get(worker, 0))
        except BaseException:
            for task in self._open:
                self._ray.cancel(task)
            raise
        tell(len(tasks))

    def memory(self) -> int:
        """An even share of the memory that Ray leaves to tasks."""
        return self._memory or 1 << 62


def call(
    version: str, function: Callable[..., Any], returns: int | None, *args: Any
) -> tuple[Any, ...]:
    """Results of the function, then the worker and the most bytes it held for itself."""
    if version != __version__:
        raise RuntimeError(
            f"{socket.gethostname()} has hottopixx {__version__}, but the driver {version}: "
            "install the same on every node"
        )
    with _Memory() as memory:
        results = function(*args)
    worker = f"process {os.getpid()} on {socket.gethostname()}"
    return (*([results] if returns is None else results), (worker, memory.peak))


class _Memory:
    """The most bytes of its own that this process holds within the context.

    What it shares with other workers is not counted: Ray's store of objects is there once for all
    of them. Looked at every few milliseconds, since no system keeps a record of that.
    """

    def __init__(self) -> None:
        self.peak = 0
        self._over = threading.Event()
        self._watch = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> _Memory:
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._watch.join()

    def _look(self) -> None:
        while True:
            self.peak = max(self.peak, private_memory())
            if self._over.wait(_GLANCE):
                return


def private_memory() -> int:
    """Bytes that this process holds now and shares with nobody; 0 where that is not told."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            lines = [line.split() for line in status if line.startswith("RssAnon:")]
    except OSError:
        return 0
    return int(lines[0][1]) * 1024 if lines else 0
