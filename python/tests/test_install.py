"""The installer, from a folder that holds a release."""

import hashlib
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "install.sh"
TARGET = "x86_64-unknown-linux-musl"


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A release whose program is a script."""
    folder = tmp_path / "release"
    inner = tmp_path / f"hottopixx-{TARGET}"
    inner.mkdir()
    folder.mkdir()
    (inner / "hottopixx").write_text("#!/bin/sh\necho hottopixx 9.9.9\n")
    (inner / "hottopixx").chmod(0o755)
    archive = folder / f"{inner.name}.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(inner, inner.name)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    (folder / "SHA256SUMS").write_text(f"{'0' * 64}  other.tar.gz\n{digest}  {archive.name}\n")
    return folder


def install(*words: object, **machine: str) -> subprocess.CompletedProcess[str]:
    machine = {"HOTTOPIXX_SYSTEM": "Linux", "HOTTOPIXX_PROCESSOR": "x86_64"} | machine
    command = ["sh", str(SCRIPT), *map(str, words)]
    env = os.environ | machine
    return subprocess.run(command, env=env, check=False, capture_output=True, text=True)


@pytest.mark.skipif(os.name != "posix", reason="a script for sh")
def test_what_is_released_is_installed_and_replaced(release: Path, tmp_path: Path) -> None:
    to = tmp_path / "a folder" / "bin"
    for _ in range(2):
        ran = install("--from", release, "--to", to)
        assert ran.returncode == 0 and "is not on your PATH" in ran.stdout, ran.stderr
    said = subprocess.run([to / "hottopixx"], check=True, capture_output=True, text=True)
    assert said.stdout == "hottopixx 9.9.9\n" and [f.name for f in to.iterdir()] == ["hottopixx"]


@pytest.mark.skipif(os.name != "posix", reason="a script for sh")
def test_what_is_not_right_is_refused_with_a_sentence(release: Path, tmp_path: Path) -> None:
    to = tmp_path / "bin"

    def refused(*words: object, **machine: str) -> str:
        ran = install(*words, "--to", to, **machine)
        assert ran.returncode == 1 and ran.stderr.count("\n") >= 1 and not to.exists(), ran
        return ran.stderr

    assert "belongs to no release" in refused()
    assert "could not be fetched" in refused("--from", tmp_path / "nowhere")
    assert "sparc" in refused("--from", release, HOTTOPIXX_PROCESSOR="sparc")
    assert "Windows" in refused("--from", release, HOTTOPIXX_SYSTEM="MINGW64_NT")
    assert "could not be fetched" in refused("--from", release, HOTTOPIXX_PROCESSOR="arm64")
    archive = release / f"hottopixx-{TARGET}.tar.gz"
    archive.write_bytes(archive.read_bytes() + b"x")
    assert "SHA-256 differs" in refused("--from", release)
    (release / "SHA256SUMS").write_text("")
    assert "does not list" in refused("--from", release)
