"""Import Spark when it is needed, with a clear error where it is not installed."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from shoal.engine.spark._files import uri_of
from shoal.engine.spark._progress import report_progress
from shoal.errors import NotInstalled, SessionStopped


def session_module() -> ModuleType:
    """Return the module that calls Spark; raise ``NotInstalled`` without pyspark."""
    try:
        from shoal.engine.spark import _session as session
    except ImportError:
        raise NotInstalled(
            "This needs pyspark, which is not installed.",
            "Install it with: pip install 'shoal[spark]'.",
            reason="pyspark",
        ) from None
    return session


@contextmanager
def open_table(
    path: str,
    master: str | None,
    settings: Mapping[str, str],
    show: Callable[[int, int], None],
) -> Iterator[Any]:
    """Yield a frame of the table at a path, by the running session or a new one.

    No row is read yet. A session that was started for it ends with the context.

    Parameters
    ----------
    path
        Any that Spark can reach; one without a scheme is on this machine.
    master
        The cluster of a session that is started; None: what Spark's settings say.
    settings
        The settings of a session that is started, as for
        ``shoal.engine.spark._session.spark_session``.
    show
        Called with the tasks done and the tasks in all, while Spark works.
    """
    with open_session(master, settings) as session, report_progress(session, show):
        yield session_module().read_table(session, uri_of(path))


@contextmanager
def open_session(master: str | None, settings: Mapping[str, str]) -> Iterator[Any]:
    """Yield the running session, or a new one that ends with the context.

    Parameters
    ----------
    master
        The cluster of a session that is started; None: what Spark's settings say.
    settings
        The settings of a session that is started, as for
        ``shoal.engine.spark._session.spark_session``.
    """
    part = session_module()
    try:
        session, is_own = part.active_session(), False
    except SessionStopped:
        session, is_own = part.spark_session(master, **settings), True
    try:
        yield session
    finally:
        if is_own:
            session.stop()
