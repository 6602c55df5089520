"""Compares the newest Python that bots allow with those for which onnxruntime has wheels.

Exit code 1, and a line, if a bot could get a Python for which pip finds no wheel of onnxruntime, or
if there is one by now for the first Python that bots do not allow.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

DATA = Path(__file__).parents[3] / "internal/render/data.go"
# The platforms of wheels for Linux, for a Mac as macs in data.go has it, and for Windows.
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_28_aarch64", "macosx_14_0_arm64", "win_amd64")


def has_wheel(minor: int, platform: str) -> bool:
    """Whether pip finds a wheel of onnxruntime. Raises RuntimeError if it says something else."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", folder]
        command += ["--only-binary", ":all:", "--python-version", f"3.{minor}"]
        command += ["--platform", platform, "onnxruntime"]
        pip = subprocess.run(command, capture_output=True, text=True)
    if pip.returncode and "No matching distribution" not in pip.stderr:
        raise RuntimeError(pip.stderr)
    return not pip.returncode


def differences(end: int) -> list[str]:
    found = []
    missing = [name for name in PLATFORMS if not has_wheel(end - 1, name)]
    if missing:
        found.append(f"onnxruntime has no wheel for Python 3.{end - 1}: {', '.join(missing)}")
    if all(has_wheel(end, name) for name in PLATFORMS):
        found.append(f"onnxruntime has wheels for Python 3.{end}: raise pythonEnd in {DATA.name}")
    return found


if __name__ == "__main__":
    end = re.search(r"(?m)^const pythonEnd = (\d+)$", DATA.read_text())
    assert end, f"{DATA} has no pythonEnd"
    found = differences(int(end[1]))
    print("\n".join(found or [f"onnxruntime has wheels up to Python 3.{int(end[1]) - 1}"]))
    sys.exit(bool(found))
