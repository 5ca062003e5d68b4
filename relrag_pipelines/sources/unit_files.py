"""Makes units of files and of references, with the paths under which a source knows them."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

from relrag_pipelines.files import regular_files
from relrag_pipelines.records import Failure
from relrag_pipelines.sources.unit import Unit, UnitRef


def path_of(file: Path, root: Path) -> str:
    """The path of a file or folder relative to a source; for the source itself its name."""
    text, prefix = str(file), f"{root}/"
    if text.startswith(prefix):  # pathlib takes ten times as long, for each of many files
        relative = text[len(prefix) :]
    else:
        relative = (file.relative_to(root) if file != root else Path(root.name)).as_posix()
    # a name that isn't valid UTF-8 has lone surrogates, which no table can hold
    return relative.encode("utf-8", "backslashreplace").decode()


def unit_of(
    file: Path,
    root: Path,
    companions: tuple[Path, ...] = (),
    siblings_fingerprint: str = "",
    *,
    follow_links: bool = False,
) -> Unit:
    """The unit for a file as it is now."""
    path = path_of(file, root)
    stats: list[os.stat_result] = []
    readable: list[Path] = []
    refusals: list[Failure] = []
    for part in (file, *companions):
        try:
            stats.append(regular_files.check_file(part, root, follow_links=follow_links))
            readable.append(part)
        except regular_files.RefusedFile as error:
            if part is file:  # a version, so that it is read again once something else is at the path
                return Unit(path, file, 0, 0, version=f"{error.fault} {path}", refusals=(error.failure(),))
            refusals.append(error.failure(part.name))
        except OSError:  # a broken link: still a unit, so that reading it reports the fault
            return Unit(path, file, 0, 0, companions, siblings_fingerprint=siblings_fingerprint)
    return Unit(
        path,
        file,
        sum(stat.st_size for stat in stats),
        _combined_mtime(stats, companions, refusals) if companions else stats[0].st_mtime_ns,
        tuple(readable[1:]),
        siblings_fingerprint=siblings_fingerprint,
        refusals=tuple(refusals),
    )


def _combined_mtime(stats: list[os.stat_result], companions: tuple[Path, ...], refusals: list[Failure]) -> int:
    """A number that changes with the time of any file of a unit, and with the names of its companions.

    Names matter too: `call.txt` is read differently once it becomes `call.vtt`.
    """
    parts = [companion.name for companion in companions]
    parts += [f"{refusal.fault} {refusal.location}" for refusal in refusals]
    names = zlib.crc32("\0".join(parts).encode("utf-8", "surrogatepass"))
    return (names + sum(stat.st_mtime_ns for stat in stats)) % 2**63


def unit_of_ref(ref: UnitRef, root: Path) -> Unit:
    """The unit for a reference that is not a file."""
    return Unit(ref.id, ref.file or root, 0, 0, version=ref.version, resume_point=ref.resume_point)
