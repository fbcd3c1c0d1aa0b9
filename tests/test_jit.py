"""The one decorator for kernels: bounds are checked when asked for, caches are keyed, and all runs without the JIT."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from jolly_env._jit import _sources_hash

ROOT = Path(__file__).parent.parent

KERNELS = """
import numpy as np

from jolly_env._jit import cache_dir, entry
from {constants} import STEP


@entry
def pick(values, index):
    return values[index + STEP]
"""

OUT_OF_RANGE = """
import numpy as np
from small.kernels import pick
print(pick(np.zeros(3), 1))
try:
    pick(np.zeros(3), 7)
except IndexError as error:
    print("IndexError", error)
"""

SHORT_ROUND = """
import hashlib, warnings
import numpy as np
from jolly_env import Rules
from jolly_env.agent import RandomAgent
from jolly_env.batch import Batch
from jolly_env.determinize import determinize
from jolly_env.features import action_features, features

warnings.simplefilter("ignore")  # without the JIT, NumPy says that 64-bit words wrap around
pack = [1] * 18 + [0] * 34
rules = Rules(hand_size=8, opening_points=10, recycle_keep=0, max_turns=18, jokers=2, pack=pack)
batch = Batch(2, rules, seed=3)
digest = hashlib.sha256()
recycled = 0
for _ in range(90):
    batch.step(RandomAgent().act(batch.observations, batch.masks, batch.keys))
    recycled += int((batch.states["recycles"] > 0).any())
    digest.update(batch.states.tobytes() + batch.observations.tobytes() + batch.masks.tobytes())
digest.update(features(batch.observations).tobytes() + action_features(batch.observations, batch.masks)[1].tobytes())
digest.update(determinize(batch.observations[0], 5).tobytes())
print(digest.hexdigest(), recycled)
"""


def run(code: str, path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(path), str(ROOT)]), **environment}
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=300)


def python(code: str, path: Path, **environment: str) -> str:
    """Run code in a fresh interpreter and return what it prints."""
    done = run(code, path, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def small_package(folder: Path) -> Path:
    """Write a package of one kernel and one constant; return the folder that it lies in."""
    package = folder / "small"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "cards.py").write_text("STEP = 1\n")
    (package / "kernels.py").write_text(KERNELS.format(constants="small.cards"))
    return folder


def test_a_read_out_of_range_raises_where_bounds_are_checked(tmp_path: Path) -> None:
    """In either order, so that a warm cache of the other kind is there."""
    path = small_package(tmp_path)
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    for _ in range(2):
        assert "IndexError" in python(OUT_OF_RANGE, path, NUMBA_BOUNDSCHECK="1", **cache)
        unchecked = "from small.kernels import pick\nimport numpy as np\nprint(pick(np.zeros(3), 1))"
        assert python(unchecked, path, NUMBA_BOUNDSCHECK="0", **cache).strip() == "0.0"
    assert len([p for p in (tmp_path / "cache" / "jolly_env").iterdir() if p.is_dir()]) == 2


def test_these_tests_check_bounds_if_the_flag_is_set() -> None:
    from numba.core import config

    from jolly_env._jit import cache_dir

    name = cache_dir(ROOT / "jolly_env").name
    assert name.endswith("-checked") == bool(config.BOUNDSCHECK)
    assert bool(config.BOUNDSCHECK) == (os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0"))


def test_an_edited_constant_is_compiled_in(tmp_path: Path) -> None:
    """Left alone, numba would load the old code: the constant stands in another module."""
    path = small_package(tmp_path)
    code = "from small.kernels import pick\nimport numpy as np\nprint(pick(np.arange(5), 1))"
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert python(code, path, **cache).strip() == "2"
    (path / "small" / "cards.py").write_text("STEP = 3\n")
    shutil.rmtree(path / "small" / "__pycache__", ignore_errors=True)
    assert python(code, path, **cache).strip() == "4"


def test_a_users_own_cache_is_left_where_it_was() -> None:
    from numba.core import config

    import jolly_env.engine  # noqa: F401

    assert "jolly_env" not in config.CACHE_DIR


def test_a_cache_that_cannot_be_written_falls_back(tmp_path: Path) -> None:
    """A file stands where the cache folder should be."""
    path = small_package(tmp_path)
    (tmp_path / "cache").write_text("in the way")
    spare = tmp_path / "tmp"
    spare.mkdir()
    code = "from small.kernels import pick, cache_dir\nimport numpy as np\nfrom pathlib import Path\nimport small\n"
    code += "print(pick(np.zeros(3), 1), cache_dir(Path(small.__file__).parent))"
    printed = python(code, path, XDG_CACHE_HOME=str(tmp_path / "cache"), TMPDIR=str(spare))
    assert printed.startswith("0.0") and str(spare) in printed


def test_a_round_without_the_jit_is_the_same_round() -> None:
    compiled = python(SHORT_ROUND, ROOT)
    assert python(SHORT_ROUND, ROOT, NUMBA_DISABLE_JIT="1") == compiled
    assert int(compiled.split()[1]) > 0, "a recycling lies in it"


PICK = "from small.kernels import pick\nimport numpy as np\nprint(pick(np.arange(5), 1))"


@pytest.mark.parametrize(("suffix", "size"), [("nbi", 0), ("nbi", 10), ("nbc", -20)])
def test_a_damaged_cache_is_compiled_anew(tmp_path: Path, suffix: str, size: int) -> None:
    """Files cut short, as after a crash, are said once and replaced."""
    path, cache = small_package(tmp_path), {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert python(PICK, path, **cache).strip() == "2"
    (damaged,) = (tmp_path / "cache").rglob(f"*.{suffix}")
    damaged.write_bytes(damaged.read_bytes()[:size])
    done = run(PICK, path, **cache)
    assert (done.stdout.strip(), done.returncode) == ("2", 0), done.stderr
    assert done.stderr.count("\n") == 1 and "damaged" in done.stderr
    assert run(PICK, path, **cache).stderr == ""


FULL = """
import os, shutil
from collections import namedtuple
Usage = namedtuple("Usage", "total used free")
real = shutil.disk_usage
shutil.disk_usage = lambda path: Usage(10, 10, 0) if {full!r} in str(path) else real(path)
"""


def test_a_full_disk_is_not_begun_on(tmp_path: Path) -> None:
    """A file of no bytes can be made on a full disk, too: what counts is the room. A cache that is there is used."""
    path, spare = small_package(tmp_path), tmp_path / "tmp"
    spare.mkdir()
    places = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": str(spare)}
    done = run(FULL.format(full=str(tmp_path / "cache")) + PICK, path, **places)
    assert done.stdout.strip() == "2" and list(spare.rglob("*.nbc"))
    assert done.stderr.count("\n") == 1 and "No space left" in done.stderr
    done = run(FULL.format(full=str(tmp_path)) + PICK, path, **places)
    assert done.stdout.strip() == "2" and done.stderr.count("\n") == 2
    (folder,) = (tmp_path / "cache" / "jolly_env").iterdir()
    (folder / "small.ready").touch()
    done = run(FULL.format(full=str(tmp_path)) + PICK, path, **places)
    assert done.stderr == "" and list(folder.rglob("*.nbc"))


def test_a_disk_that_is_full_in_the_end_keeps_nothing(tmp_path: Path) -> None:
    path, cache = small_package(tmp_path), {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    full = "import errno, os\nfrom numba.core.caching import IndexDataCacheFile\n"
    full += (
        "def fail(*_): raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))\nIndexDataCacheFile._save_data = fail\n"
    )
    done = run(full + PICK, path, **cache)
    assert done.stdout.strip() == "2" and done.returncode == 0
    assert done.stderr.count("\n") == 1 and "No space left" in done.stderr
    done = run(PICK, path, **cache)  # the index names a file that was not written
    assert (done.stdout.strip(), done.stderr) == ("2", "")


def test_each_checkout_announces_its_compile(tmp_path: Path) -> None:
    """Sources and so the cache are the same, but numba finds kernels by the paths of their sources."""
    code = "from jolly_env._jit import warm_up\nfrom pathlib import Path\nimport small.kernels\n"
    code += "warm_up('small', Path(small.__file__).parent, lambda: None)"
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    one, two = small_package(tmp_path / "one"), small_package(tmp_path / "two")
    for path, lines in ((one, 2), (one, 0), (two, 2), (two, 0)):
        assert run(code, path, **cache).stderr.count("small: compil") == lines
    assert len(list((tmp_path / "cache" / "jolly_env").iterdir())) == 1


def test_the_key_of_a_package_covers_those_that_its_kernels_import(tmp_path: Path) -> None:
    """An edited constant or kernel of a package beside it makes a new cache; one that is not imported from does not."""
    for package, source in (
        ("bots", "ONE = 1\n\n\n@kernel\ndef one(): ...\n"),
        ("learning", "from bots.one import one\n\n\n@entry\ndef two(): ...\n"),
        ("other", "\n@kernel\ndef three(): ...\n"),
    ):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
        (tmp_path / package / "one.py").write_text(source)
    key = _sources_hash.__wrapped__
    before = key(tmp_path / "learning")
    (tmp_path / "other" / "one.py").write_text("\n@kernel\ndef four(): ...\n")
    assert key(tmp_path / "learning") == before
    (tmp_path / "bots" / "one.py").write_text("ONE = 2\n\n\n@kernel\ndef one(): ...\n")
    assert key(tmp_path / "learning") != before
