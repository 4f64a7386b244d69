"""The check of a certificate in the guide, run as it is printed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hottopixx

ROOT = Path(__file__).parents[2]


def snippet() -> str:
    """The block of Python in the guide that reads a certificate."""
    text = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    (found,) = [block for block in blocks if "certificate.json" in block]
    return str(found)


def program() -> Path | None:
    """The command line program, where it has been built."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [target / profile / "hottopixx" for profile in ("debug", "release")]
    built = [path for path in built if path.exists()]
    return max(built, key=lambda path: path.stat().st_mtime) if built else None


@pytest.mark.skipif(program() is None, reason="the program is not built: cargo build")
def test_the_guide_checks_a_certificate(tmp_path: Path) -> None:
    made = hottopixx.generate("paper", features=30, examples=60, rank=4, noise=0.5, seed=3)
    data = np.asarray(made.X).copy()
    data[7] = 0.0
    np.save(tmp_path / "X.npy", data)
    certify = [str(program()), "certify", "X.npy", "--rank", "4", "--out", "proof", "--json"]
    subprocess.run(certify, cwd=tmp_path, check=True, capture_output=True)

    def check() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", snippet()]
        return subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)

    ran = check()
    assert ran.returncode == 0, ran.stderr
    words = ran.stdout.replace(";", "").split()
    bound, value = float(words[words.index("below") + 1]), float(words[-1])
    proof = hottopixx.certify(data, 4)
    assert bound == pytest.approx(proof.certificate.lower_bound, rel=1e-5)
    assert value == pytest.approx(proof.certificate.objective, rel=1e-5)

    diagonal = np.load(tmp_path / "proof" / "d.npy")
    diagonal[diagonal.argmax()] += 0.25
    np.save(tmp_path / "proof" / "d.npy", diagonal)
    assert check().returncode != 0
