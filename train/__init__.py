"""Learning by self-play. ``python -m train --help``."""

import os

# Read by torch's OpenMP when torch is first imported: threads that wait then sleep. Spinning, two threads that share
# their cores with any other busy program train at a twentieth of the speed; alone they are as fast either way.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
