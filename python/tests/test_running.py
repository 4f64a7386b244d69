"""Long calls: interrupts, limits, progress, other threads."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import hottopixx


def big(features=300, examples=4000):
    return hottopixx.generate("paper", features=features, examples=examples, rank=20, noise=2.0).X


# Settings with which a method has no end in sight.
ENDLESS = {
    "auto": {"gap": 1e-12},
    "hottopixx": {"epochs": 100_000},
    "minimax": {"gap": 1e-12},
}


@pytest.mark.parametrize("method", ["auto", "hottopixx", "minimax", "gradient"])
@pytest.mark.skipif(os.name == "nt", reason="signals as on Unix")
def test_ctrl_c_stops_within_a_second(method):
    X = big()
    sent = []

    def interrupt():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            hottopixx.factor(X, 20, method, **ENDLESS.get(method, {}))
    finally:
        timer.cancel()
    assert time.monotonic() - sent[0] < 1.0


def thread_names():
    """The names of this process's threads; one that ends while we look has none."""
    for task in pathlib.Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            yield (task / "comm").read_text().strip()


def native_threads():
    """How many threads of this process compute; idle ones of a pool take a moment to end."""
    for _ in range(20):
        count = sum(name.startswith("hottopixx") for name in thread_names())
        if count == 0:
            break
        time.sleep(0.01)
    return count


@pytest.mark.parametrize("method", ["auto", "hottopixx", "gradient", "snpa"])
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells of threads")
def test_an_interrupted_call_has_let_go_of_the_array(method):
    X = big(500, 20_000)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            hottopixx.factor(X, 20, method, **ENDLESS.get(method, {}))
            pytest.skip("this machine is too fast")
    finally:
        timer.cancel()
    assert native_threads() == 0
    X[:] = -1.0  # nobody reads it any more


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells of threads")
def test_after_an_error_in_progress_nothing_goes_on(monkeypatch):
    def angry(*_):
        raise RuntimeError("no more of this")

    monkeypatch.setattr("hottopixx._progress.Bar.__call__", angry)
    with pytest.raises(RuntimeError, match="no more of this"):
        hottopixx.factor(big(), 20, "hottopixx", epochs=100_000, verbose=True)
    assert native_threads() == 0


def test_a_limit_gives_the_best_so_far():
    answer = hottopixx.factor(big(), 20, "hottopixx", epochs=100_000, max_seconds=0.5)
    assert answer.stop != "finished" and len(answer.hott) == 20
    assert "best answer so far" in repr(answer)


def test_other_threads_go_on():
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    ticker = threading.Thread(target=tick)
    ticker.start()
    begun = time.monotonic()
    hottopixx.factor(big(), 20, "hottopixx", epochs=8)
    ended = time.monotonic()
    done.set()
    ticker.join()
    during = [t for t in ticks if begun < t < ended]
    assert ended - begun > 0.1, "too short to tell"
    # With the interpreter locked there would be none but at the ends.
    assert len(during) > 0.1 * (ended - begun) / 0.005


def test_progress_goes_to_standard_error(capfd):
    hottopixx.factor(big(), 20, "hottopixx", epochs=100_000, max_seconds=0.5, verbose=True)
    out, err = capfd.readouterr()
    assert out == "" and "looking for hott rows: " in err


def test_an_error_in_the_middle_of_progress_is_raised(monkeypatch):
    def angry(*_):
        raise RuntimeError("no more of this")

    monkeypatch.setattr("hottopixx._progress.Bar.__call__", angry)
    with pytest.raises(RuntimeError, match="no more of this"):
        hottopixx.factor(big(), 20, "hottopixx", epochs=2000, verbose=True)


def test_answers_do_not_depend_on_threads():
    X = big(60, 300)
    one = hottopixx.factor(X, 5, threads=1, effort="quick")
    two = hottopixx.factor(X, 5, threads=2, effort="quick")
    assert one.hott.tolist() == two.hott.tolist()
    np.testing.assert_array_equal(one.F, two.F)


def test_functions_work_without_scikit_learn():
    script = """
        import sys
        sys.modules["sklearn"] = None
        import hottopixx
        X = hottopixx.generate("paper", features=20, examples=40, rank=3).X
        assert len(hottopixx.factor(X, 3).hott) == 3
        try:
            hottopixx.Hottopixx
        except ImportError as error:
            print(error)
        """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True
    )
    assert "hottopixx[sklearn]" in run.stdout
