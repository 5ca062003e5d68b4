"""Facts about this machine, without a network: its time zone, and the kind of disk or share of a folder."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from zoneinfo import ZoneInfo

_NOT_ZONES = frozenset({"localtime", "posixrules", "Factory"})

_SYNCED_FOLDERS = (
    (re.compile(r"dropbox\b", re.IGNORECASE), "Dropbox"),
    (re.compile(r"onedrive\b", re.IGNORECASE), "OneDrive"),
    (re.compile(r"google ?drive\b|my drive$", re.IGNORECASE), "Google Drive"),
    (re.compile(r"icloud ?drive$|mobile documents$|com~apple~clouddocs$", re.IGNORECASE), "iCloud"),
    (re.compile(r"next ?cloud\b", re.IGNORECASE), "Nextcloud"),
    (re.compile(r"own ?cloud$", re.IGNORECASE), "ownCloud"),
    (re.compile(r"pcloud ?drive$|pcloud$", re.IGNORECASE), "pCloud"),
)
"""names of folders, matched from their beginning, that sync programs make"""

_SYNC_MARKS = (
    (".dropbox", "Dropbox"),
    (".dropbox.cache", "Dropbox"),
    (".849C9593-D756-4E56-8D6E-42412F2A707B", "OneDrive"),
    (".tmp.drivedownload", "Google Drive"),
    (".tmp.driveupload", "Google Drive"),
    (".nextcloudsync.log", "Nextcloud"),
    (".sync_*.db", "Nextcloud"),
    ("._sync_*.db", "Nextcloud"),
    (".owncloudsync.log", "ownCloud"),
    (".stfolder", "Syncthing"),
)
"""files that sync programs leave in the top folder of what they sync"""

_NETWORK = re.compile(
    r"(fuse\.|osxfuse\.|macfuse\.|fuse\.osxfuse\.)?"
    r"(9p|v9fs|drvfs|nfs\d?|cifs|smb\d|smbfs|afpfs|webdav|ncpfs|afs|beegfs|ceph|glusterfs|gpfs|lustre|davfs2?|gcsfuse"
    r"|rclone|s3fs|sshfs|vmhgfs-fuse)"
)
"""types of file systems on which SQLite's locks cannot be relied on"""


def time_zone(
    environ: Mapping[str, str] = os.environ,
    localtime: Path = Path("/etc/localtime"),
    named: Path = Path("/etc/timezone"),
) -> str | None:
    """IANA name of this machine's zone: from TZ, else the link /etc/localtime, else /etc/timezone; None if unknown."""
    candidates = [environ["TZ"].removeprefix(":") or "UTC"] if "TZ" in environ else []
    with contextlib.suppress(OSError):  # not a link but a copy, as in many containers
        candidates += [str(localtime.readlink()), str(localtime.resolve())]
    with contextlib.suppress(OSError, UnicodeDecodeError):
        candidates.append(named.read_text(encoding="utf-8").strip())
    names = (re.sub(r"^.*zoneinfo(?:\.default)?/(?:posix/|right/)?", "", candidate) for candidate in candidates)
    return next((name for name in names if _is_zone(name)), None)


def sync_provider(folder: Path) -> str | None:
    """The program that syncs the folder to other machines, judged by folder names and the program's files; or None."""
    resolved = folder.resolve()
    for name in resolved.parts:
        for pattern, program in _SYNCED_FOLDERS:
            if pattern.match(name):
                return program
        if name == "CloudStorage":
            return "a cloud drive"
    for parent in (resolved, *resolved.parents):
        for mark, program in _SYNC_MARKS:
            if any(parent.glob(mark)) and parent != Path.home():
                return program
    return None


def enclosing_git_tree(folder: Path) -> Path | None:
    """Top folder of the git tree that holds the folder; None outside of one."""
    resolved = folder.resolve()
    return next((parent for parent in (resolved, *resolved.parents) if (parent / ".git").exists()), None)


def tracking_git_tree(folder: Path) -> Path | None:
    """The git tree that would track files in the folder, which need not exist; None if git ignores it."""
    tree = enclosing_git_tree(folder)
    return None if tree is None or _git_ignores(tree, folder) else tree


def _git_ignores(tree: Path, folder: Path) -> bool:
    # a path below the folder, because a pattern for folders matches only existing folders
    probe = folder.resolve() / "private" / "records"
    try:
        result = subprocess.run(["git", "-C", str(tree), "check-ignore", "--quiet", str(probe)], capture_output=True)
    except OSError:
        return False
    return result.returncode == 0


def network_file_system(folder: Path, mounts: Mapping[str, str] | None = None) -> str | None:
    """Type of the folder's network file system; None if it is local or unknown."""
    types = _mounts() if mounts is None else mounts
    resolved = folder.resolve()
    kind = next((types[str(parent)] for parent in (resolved, *resolved.parents) if str(parent) in types), "")
    return kind if _NETWORK.fullmatch(kind) else None


def free_bytes(folder: Path) -> int:
    """Free bytes for this user on the folder's disk; the folder need not exist."""
    resolved = folder.resolve()
    return shutil.disk_usage(next(parent for parent in (resolved, *resolved.parents) if parent.exists())).free


def location_warnings(home: Path) -> Iterator[str]:
    """Warnings about an index's location, one sentence each, with what to do."""
    if program := sync_provider(home):
        yield f"{home} would be copied to other machines by {program}, private texts included; set `home` elsewhere."
    if kind := network_file_system(home):
        yield f"{home} lies on a network file system ({kind}), where SQLite breaks; set `home` to a local disk."


def _is_zone(name: str) -> bool:
    if name in _NOT_ZONES:
        return False
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return False
    return True


def _mounts() -> dict[str, str]:
    """mount point -> type of its file system; of several mounts at a point, the last is visible."""
    try:
        if sys.platform == "darwin":
            output = subprocess.run(["mount"], capture_output=True, text=True, errors="replace").stdout
            return dict(re.findall(r"^.* on (/.*) \((\w+)[,)]", output, re.MULTILINE))
        lines = Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return {}
    return {_unescape(line.split()[4]): line.partition(" - ")[2].split()[0] for line in lines}


def _unescape(mount_point: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), mount_point)
