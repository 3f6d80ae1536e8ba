"""What was acknowledged survives kill -9."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "bench" / "kill.py"
ROUNDS = 50


def test_no_durable_lock_is_lost_in_fifty_kills() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), str(ROUNDS)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 lost" in done.stdout and f"{ROUNDS} kills" in done.stdout
