"""What all tests share: kernels compiled once, one thread for torch, and Hypothesis without surprises in CI."""

from __future__ import annotations

import os
import sys

import hypothesis
import pytest

from jolly_env.warmup import warm_up_kernels

# A compiled kernel or a first search of the referee may take longer than Hypothesis's deadline for one example.
hypothesis.settings.register_profile("default", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "default")


def pytest_configure() -> None:
    """Let torch, where a test brings it in, leave the other core to the other workers."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("MKL_NUM_THREADS", "1")


@pytest.fixture(scope="session", autouse=True)
def _warm_kernels() -> None:
    """Compile before the first test is timed."""
    warm_up_kernels()


@pytest.fixture(autouse=True)
def _one_torch_thread() -> None:
    """Keep torch to one thread once somebody has imported it; nothing here imports it."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.get_num_threads() != 1:
        torch.set_num_threads(1)
