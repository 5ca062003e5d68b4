"""Keeps private text out of Dagster's event log, which stores every exception with its message."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg

from relrag_pipelines import space
from relrag_pipelines.export import ManyDeletions
from relrag_pipelines.forgetting.rules import ForgettingError
from relrag_pipelines.keys import KeysError
from relrag_pipelines.pii import RedactionError
from relrag_pipelines.settings import SettingsError
from relrag_pipelines.space import DiskFull
from relrag_pipelines.stores.generations import GenerationError, NothingPublished
from relrag_pipelines.stores.lake import LakeError
from relrag_pipelines.stores.lock import Busy
from relrag_pipelines.stores.units import SourceMissing

_OURS = (
    Busy,
    DiskFull,
    ForgettingError,
    GenerationError,
    KeysError,
    LakeError,
    ManyDeletions,
    NothingPublished,
    RedactionError,
    SettingsError,
)
"""their messages are written by this project and hold no text of the archive"""


@contextmanager
def sealed() -> Iterator[None]:
    """Lets through our own errors; of any other only its type and where it was raised."""
    try:
        yield
    except _OURS as error:
        said = str(error)
    except SourceMissing:  # it names the path, which can be anything
        said = "the path of the source is missing or cannot be listed; `relrag plan` says which"
    except Exception as error:  # noqa: BLE001  its message may quote what was being read
        frame = traceback.extract_tb(error.__traceback__)[-1]
        what = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
        said = f"{what} in {Path(frame.filename).name}, line {frame.lineno}"
        if space.is_full(error):
            said = f"{space.FULL}; `relrag doctor` says how much a sync needs"
    else:
        return
    # raised outside the except blocks, so that the first error is not kept as context
    raise dg.Failure(said)
