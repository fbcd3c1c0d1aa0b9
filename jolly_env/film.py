"""Drawings as pixels, and a round as a film, GIF or MP4.

Needs ``pip install 'jolly-env[render]'``. Letters come from files, so that pictures are equal on all machines.
"""

from __future__ import annotations

import functools
import importlib
import io
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from jolly_env.drawing import WIDTH, Drawing, draw_table
from jolly_env.record import replace_file, replay
from jolly_env.shapes import FELT

HEIGHT: Final = 720
"""Of the pictures that an environment renders, which are as wide as a table is drawn."""
COLOURS: Final = 128
"""Of a GIF: a table has few, and a small palette makes a small file."""
SAMPLES: Final = 12
"""Frames of a film from which the palette is made."""
LAST: Final = 4
"""How many times as long a GIF shows its last frame, before it begins anew."""


def pixels(drawing: Drawing, width: int = WIDTH) -> np.ndarray:
    """Return a drawing as an image of this width: uint8[H, W, 3]."""
    if not isinstance(drawing, Drawing):
        raise ValueError(f"pixels: expected a Drawing, got {type(drawing).__name__}")
    if not isinstance(width, int | np.integer) or not 1 <= width <= 10_000:
        raise ValueError(f"width={width!r}: expected a whole number from 1 to 10000")
    data = _load("resvg_py").svg_to_bytes(
        svg_string=drawing.svg,
        background=FELT,
        width=int(width),
        skip_system_fonts=True,
        font_files=_fonts(),
        font_family="DejaVu Sans",
    )
    return np.asarray(_load("PIL.Image").open(io.BytesIO(data)).convert("RGB"))


def framed(drawing: Drawing, width: int = WIDTH, height: int = HEIGHT) -> np.ndarray:
    """Return a drawing in a picture of this size, as large as fits: uint8[height, width, 3]."""
    image = pixels(drawing, max(1, int(min(width, drawing.width * height / drawing.height))))
    return _padded(image[:height], height, width)


def save_picture(drawing: Drawing, path: str | Path) -> None:
    """Write a drawing to a file, ``.svg`` or ``.png``; ``ValueError`` for another kind of file."""
    if _suffix(path, (".svg", ".png")) == ".svg":
        replace_file(path, drawing.svg.encode())
        return
    image = _load("PIL.Image").fromarray(pixels(drawing, drawing.width))
    data = io.BytesIO()
    image.save(data, "png", optimize=True)
    replace_file(path, data.getvalue())


def save_film(source: Any, path: str | Path, *, seconds: float = 0.8) -> int:
    """Write a film to a file, ``.gif`` or ``.mp4``, each frame shown for so long; return how many frames it has.

    ``source`` is a record or the path of one (:mod:`jolly_env.record`), of which every position is a frame, or frames:
    games, observations, drawings or images, uint8[H, W, 3]. Smaller frames are padded. ``ValueError`` for other things.
    """
    kind = _suffix(path, (".gif", ".mp4"))
    if not Path(path).parent.is_dir():
        raise FileNotFoundError(2, "No such folder", str(Path(path).parent))
    if not isinstance(seconds, int | float | np.number) or not 0.01 <= seconds <= 60:
        raise ValueError(f"seconds={seconds!r}: expected a number from 0.01 to 60")
    frames = _Frames(source)
    replace_file(path, _gif(frames, seconds) if kind == ".gif" else _mp4(frames, seconds))
    return len(frames)


class _Frames:
    """The frames of a film, all of one size; drawings become images only when asked for, since those are large."""

    def __init__(self, source: Any) -> None:
        if isinstance(source, str | Path | dict):
            source = replay(source)
        if not isinstance(source, Iterable):
            raise ValueError(f"film: expected a record or frames, got {type(source).__name__}")
        self._frames = [_frame(given) for given in source]
        if not self._frames:
            raise ValueError("film: there are no frames")
        shapes = [f.shape[:2] if isinstance(f, np.ndarray) else (f.height, f.width) for f in self._frames]
        # MP4 needs even sizes.
        self.height, self.width = (-(-max(sizes) // 2) * 2 for sizes in zip(*shapes, strict=True))

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, number: int) -> np.ndarray:
        frame = self._frames[number]
        return _padded(frame if isinstance(frame, np.ndarray) else pixels(frame, frame.width), self.height, self.width)

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[number] for number in range(len(self)))


def _frame(given: Any) -> Drawing | np.ndarray:
    """Return a frame as a drawing or an image; ``ValueError`` for what is neither."""
    if isinstance(given, Drawing):
        return given
    if isinstance(given, np.ndarray) and given.dtype == np.uint8:
        if given.ndim != 3 or given.shape[2] != 3 or given.size == 0:
            raise ValueError(f"film: expected images uint8[H, W, 3], got uint8{list(given.shape)}")
        return given
    return draw_table(given)


def _padded(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """Return an image with felt beneath it and at both sides."""
    canvas = np.empty((height, width, 3), dtype=np.uint8)
    canvas[:] = list(bytes.fromhex(FELT[1:]))
    left = (width - image.shape[1]) // 2
    canvas[: image.shape[0], left : left + image.shape[1]] = image
    return canvas


def _gif(frames: _Frames, seconds: float) -> bytes:
    """Return a GIF: one palette for all frames, and of each only what is not as it was."""
    library = _load("PIL.Image")
    chosen = np.unique(np.linspace(0, len(frames) - 1, SAMPLES).astype(int))
    sample = library.fromarray(np.concatenate([frames[number] for number in chosen.tolist()]))
    palette = sample.quantize(COLOURS, dither=library.Dither.NONE)
    images = (library.fromarray(frame).quantize(palette=palette, dither=library.Dither.NONE) for frame in frames)
    data = io.BytesIO()
    shown = [round(1000 * seconds)] * len(frames)
    shown[-1] *= LAST
    next(images).save(data, "gif", save_all=True, append_images=images, duration=shown, loop=0, optimize=True)
    return data.getvalue()


def _mp4(frames: _Frames, seconds: float) -> bytes:
    """Return an MP4 in the form that all players know."""
    library = _load("imageio_ffmpeg")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "film.mp4"
        writer = library.write_frames(
            str(path), (frames.width, frames.height), fps=1 / seconds, quality=8, macro_block_size=2
        )
        writer.send(None)
        for frame in frames:
            writer.send(np.ascontiguousarray(frame))
        writer.close()
        return path.read_bytes()


def _suffix(path: Any, known: tuple[str, ...]) -> str:
    """Return the ending of a file's name; ``ValueError`` if it is not a known one."""
    suffix = Path(path).suffix.lower() if isinstance(path, str | Path) else None
    if suffix not in known:
        raise ValueError(f"film {str(path)!r}: expected a file that ends with {' or '.join(known)}")
    return suffix


@functools.cache
def _fonts() -> list[str]:
    """Return the files of the letters."""
    folder = Path(_load("matplotlib").get_data_path()) / "fonts" / "ttf"
    return [str(folder / name) for name in ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")]


def _load(name: str) -> Any:
    """Import a library of the extra; ``ModuleNotFoundError`` says how to get it."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        message = f"pictures and films need {error.name}: pip install 'jolly-env[render]'"
        raise ModuleNotFoundError(message, name=error.name) from None
