"""A picture that a notebook shows without ``pyplot``."""

from __future__ import annotations

import io

from matplotlib.figure import Figure


class Picture(Figure):
    """A figure that shows itself, as PNG, where it is a cell's last value, whatever the backend."""

    def _repr_png_(self) -> bytes:
        """Return the picture."""
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=110)
        return file.getvalue()
