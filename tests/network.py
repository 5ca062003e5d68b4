"""A network of its own for a command: every address leads back into it, and every packet is seen.

`run` starts this module again in a new network namespace of Linux, in which there is only a loopback device that all
addresses are routed to. A look-up or a connection therefore leaves its first packet there, whatever its port, and it is
told what a look-up asked for; nobody answers.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from tests import ROOT

_NAMESPACE = ["unshare", "--net"] if os.getuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]
_UP, _GET_FLAGS, _SET_FLAGS = 0x1, 0x8913, 0x8914
_NEW_ROUTE, _ACKNOWLEDGED_NEW = 24, 0x405
_SOL_PACKET, _STATISTICS, _ALL_PROTOCOLS, _BUFFER_BY_FORCE = 263, 6, 3, 33
_ROOM = 2**26
_DNS = 53


class Seen(NamedTuple):
    """What a command did."""

    code: int
    said: str
    sent: list[str]
    """packets to other machines, in words and each once: `looks up NAME`, `tcp 203.0.113.7:443`"""


def missing() -> str:
    """Why no network namespace can be had here; empty where one can."""
    if sys.platform != "linux" or not shutil.which("unshare"):
        return "network namespaces need Linux and unshare (util-linux)"
    tried = subprocess.run([*_NAMESPACE, "true"], capture_output=True, text=True)
    return f"network namespaces are not permitted here: {tried.stderr.strip()}" if tried.returncode else ""


def run(command: list[str], environment: Mapping[str, str], report: Path) -> Seen:
    """Runs a command in a network of its own; `report` is where what was sent is written meanwhile."""
    inside = [*_NAMESPACE, sys.executable, "-m", __spec__.name, str(report), *command]
    done = subprocess.run(
        inside, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return Seen(done.returncode, done.stdout, json.loads(report.read_text()) if report.exists() else [])


def main() -> int:
    """In the namespace: runs the command and writes what was sent."""
    report, *command = sys.argv[1:]
    _raise_loopback()
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ALL_PROTOCOLS)) as packets:
        packets.setsockopt(socket.SOL_SOCKET, _BUFFER_BY_FORCE, _ROOM)
        packets.bind(("lo", _ALL_PROTOCOLS))
        seen: dict[str, None] = {}
        threading.Thread(target=_watch, args=(packets, seen), daemon=True).start()
        code = subprocess.call(command)
        time.sleep(0.2)  # the last packets
        _, lost = struct.unpack("II", packets.getsockopt(_SOL_PACKET, _STATISTICS, 8))
    Path(report).write_text(json.dumps([*seen, *([f"{lost} packets were not seen"] if lost else [])]))
    return code


def _raise_loopback() -> None:
    """Takes the loopback device up and routes every address to it, as `ip route add local default dev lo` does."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        flags = struct.unpack("16xh", fcntl.ioctl(any_socket, _GET_FLAGS, struct.pack("16sh", b"lo", 0)))[0]
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh", b"lo", flags | _UP))
    for family in (socket.AF_INET, socket.AF_INET6):
        # rtnetlink(7): table 255, host scope and type 2 make it a route to this machine itself
        route = struct.pack("BBBBBBBBI", family, 0, 0, 0, 255, 4, 254, 2, 0)
        device = struct.pack("HHI", 8, 4, socket.if_nametoindex("lo"))
        head = struct.pack("IHHII", 16 + len(route) + len(device), _NEW_ROUTE, _ACKNOWLEDGED_NEW, 1, 0)
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as kernel:
            kernel.send(head + route + device)
            error = struct.unpack_from("i", kernel.recv(4096), 16)[0]
        if error and family == socket.AF_INET:  # a machine may be without IPv6
            raise OSError(-error, "no route to the loopback device")


def _watch(packets: socket.socket, seen: dict[str, None]) -> None:
    while True:
        try:
            packet, (_, protocol, *_) = packets.recvfrom(2**16)
        except OSError:  # closed: the command has ended
            return
        for said in _told(protocol, packet):
            seen[said] = None


def _told(protocol: int, packet: bytes) -> Iterator[str]:
    """What a packet says, unless it stays on this machine."""
    if protocol == 0x0800:
        begin, kind, address = (packet[0] & 15) * 4, packet[9], packet[16:20]
    elif protocol == 0x86DD:
        begin, kind, address = 40, packet[6], packet[24:40]
    else:
        yield f"a packet of protocol {protocol:#06x}"
        return
    target = ip_address(address)
    if kind not in (socket.IPPROTO_TCP, socket.IPPROTO_UDP):  # the kernel answers what it has nobody for
        return
    port = struct.unpack_from(">H", packet, begin + 2)[0]
    if kind == socket.IPPROTO_UDP and port == _DNS:
        yield f"looks up {_name(packet[begin + 20 :])}"
    elif kind == socket.IPPROTO_UDP and not target.is_loopback:
        yield f"udp {target}:{port}"
    elif kind == socket.IPPROTO_TCP and (port == _DNS or not target.is_loopback) and packet[begin + 13] & 0x12 == 0x02:
        yield f"tcp {target}:{port}"


def _name(question: bytes) -> str:
    """The name that a DNS message asks for."""
    parts, place = [], 0
    while length := question[place]:
        parts.append(question[place + 1 : place + 1 + length].decode("ascii", "replace"))
        place += 1 + length
    return ".".join(parts)


if __name__ == "__main__":
    sys.exit(main())
