"""Close connections whose request line and headers do not come in time.

uvicorn limits how long a connection may idle, not how slowly headers may drip. Without this a few
hundred connections that send a byte a minute would keep everybody else out.
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 10.0


class DeadlineProtocol(H11Protocol):  # type: ignore[misc]
    """uvicorn's HTTP protocol, with a deadline for the headers of each request."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._set_deadline()

    def data_received(self, data: bytes) -> None:
        """Read on; the deadline runs while a request has begun and its headers are not whole."""
        super().data_received(data)
        self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadline of a connection that is gone.

        Parameters
        ----------
        exc
            Why, if not as agreed.
        """
        self._clear_deadline()
        super().connection_lost(exc)

    def _set_deadline(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._clear_deadline()
        elif self._deadline is None:  # not begun anew by every byte
            self._deadline = self.loop.call_later(HEADER_SECONDS, self._close_if_waiting)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close_if_waiting(self) -> None:
        self._deadline = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.abort()
