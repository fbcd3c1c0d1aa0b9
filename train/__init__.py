"""Learning by self-play. ``python -m train --help``."""

import os

# Read by torch's OpenMP on Linux when torch is first imported: for how many looks a thread that waits keeps its core
# before it sleeps. At the default, 300 times as many, two threads that share their cores with another busy program
# train at a twentieth of the speed; with none at all a quiet machine loses a fifth.
os.environ.setdefault("GOMP_SPINCOUNT", "20000")
