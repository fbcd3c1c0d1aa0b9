"""What a person asked for and may not have: a short code for programs, a sentence for people."""

from __future__ import annotations


class Refused(Exception):  # noqa: N818 - it is an answer, not a fault
    """A request that is turned down; nothing has changed. ``status`` is that of HTTP."""

    def __init__(self, code: str, reason: str, status: int = 409) -> None:
        """Turn down with a code, a sentence and a status."""
        super().__init__(reason)
        self.code, self.reason, self.status = code, reason, status

    def __reduce__(self) -> tuple[type[Refused], tuple[str, str, int]]:
        """Let it come back whole from another process."""
        return Refused, (self.code, self.reason, self.status)

    def to_json(self) -> dict[str, str]:
        """Return what the page gets."""
        return {"code": self.code, "reason": self.reason}
