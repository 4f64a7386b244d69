"""The cluster itself: who can reach it, what it refuses."""

import os
import socket
import stat
import sys
from pathlib import Path

import pytest

ray = pytest.importorskip("ray")

import hottopixx.ray as scaled  # noqa: E402
from hottopixx.ray import _cluster, _engine  # noqa: E402

# Ray and what it imports warn about themselves.
pytestmark = pytest.mark.filterwarnings("default")


def test_what_a_cluster_cannot_do_is_said(cluster, pixels):
    with pytest.raises(ValueError, match="no node has more than 2 processors"):
        scaled.factor(pixels.X.T, 5, worker_threads=5)
    with pytest.raises(ValueError, match="Ray is connected to"):
        scaled.factor(pixels.X.T, 5, address="10.9.9.9:1234")


def test_a_cluster_that_does_not_start_is_told_in_a_sentence():
    class Busy:
        def init(self, **_):
            raise RuntimeError("The current node timed out during startup.\nmany more lines")

        def shutdown(self):
            self.ended = True

    busy = Busy()
    with pytest.raises(RuntimeError, match=r"timed out during startup\.\): the machine may be too"):
        _cluster._start(busy, 2)
    assert busy.ended
    with _cluster.alone():
        waiting = [os.environ[name] for name in _cluster._PATIENCE]
    assert all(int(milliseconds) > 100_000 for milliseconds in waiting)


def listening():
    """(process, address) of every socket of this machine's processes that listens."""
    owners = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            for link in (process / "fd").iterdir():
                target = os.readlink(link)
                if target.startswith("socket:["):
                    owners[target[8:-1]] = int(process.name)
        except OSError:
            continue
    for table, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in owners:
                raw = bytes.fromhex(fields[1].split(":")[0])
                words = [raw[i : i + 4][::-1] for i in range(0, len(raw), 4)]
                yield owners[fields[9]], socket.inet_ntop(family, b"".join(words))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_nobody_else_can_reach_the_cluster(cluster):
    ours = {int(p.name) for p in Path("/proc").glob("[0-9]*") if _descends(p)}
    addresses = [address for process, address in listening() if process in ours]
    assert len(addresses) >= 5, "the processes of the cluster listen somewhere"
    assert set(addresses) <= {"127.0.0.1", "::ffff:127.0.0.1", "::1"}
    token = Path(os.environ["RAY_AUTH_TOKEN_PATH"])
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    assert stat.S_IMODE(token.parent.stat().st_mode) == 0o700
    assert os.environ["RAY_AUTH_MODE"] == "token" and os.environ["RAY_USAGE_STATS_ENABLED"] == "0"


def _descends(process):
    """Whether this process started it, or one that it started."""
    while process.name not in ("0", str(os.getpid())):
        try:
            parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            return False
        process = Path("/proc") / parent
    return process.name == str(os.getpid())


def test_what_is_not_safe_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(ray, "__version__", "2.51.0")
    with pytest.raises(ImportError, match=r"install Ray 2\.60 or later"):
        _cluster.need_ray()
    monkeypatch.undo()
    token = tmp_path / "token"
    token.write_text("secret")
    token.chmod(0o644)
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(token))
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    with pytest.raises(PermissionError, match="chmod 600"):
        _cluster._check_token_file()
    token.chmod(0o600)
    _cluster._check_token_file()


def test_another_version_on_a_worker_is_refused():
    with pytest.raises(RuntimeError, match=r"but the driver 0\.0\.1"):
        _engine.call("0.0.1", len, 1, [])
