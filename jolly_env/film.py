"""Drawings as pixels, and a round as a film, GIF or MP4.

Needs ``pip install 'jolly-env[render]'``. Letters come from files, so that pictures are equal on all machines.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from jolly_env.drawing import WIDTH, Drawing
from jolly_env.record import replace_file
from jolly_env.shapes import FELT


def pixels(drawing: Drawing, width: int = WIDTH) -> np.ndarray:
    """Return a drawing as an image of this width: uint8[H, W, 3]."""
    import matplotlib
    import resvg_py
    from PIL import Image

    fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    data = resvg_py.svg_to_bytes(
        svg_string=drawing.svg,
        background=FELT,
        width=width,
        skip_system_fonts=True,
        font_files=[str(fonts / name) for name in ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")],
        font_family="DejaVu Sans",
    )
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def save_picture(drawing: Drawing, path: str | Path) -> None:
    """Write a drawing to a file, ``.svg`` or ``.png``; ``ValueError`` for another kind of file."""
    suffix = Path(path).suffix.lower()
    if suffix == ".svg":
        replace_file(path, drawing.svg.encode())
    elif suffix == ".png":
        from PIL import Image

        data = io.BytesIO()
        Image.fromarray(pixels(drawing, drawing.width)).save(data, "png", optimize=True)
        replace_file(path, data.getvalue())
    else:
        raise ValueError(f"{path}: a picture is a .svg or .png file")
