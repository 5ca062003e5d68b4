"""What tests of Ray share: a cluster of two nodes on the loopback address, who listens, and what lies in a folder."""

from __future__ import annotations

import importlib
import ipaddress
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import relrag_pipelines

assert relrag_pipelines, "it turns reports of use off before Ray is imported"
STORE_BYTES = 100 * 2**20
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108


def certificates(folder: Path) -> dict[str, str]:
    """A certificate for 127.0.0.1 and its key, as the variables that name them to Ray; it is its own authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "relrag test")])
    now = datetime.now(UTC)
    addresses = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost")]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName(addresses), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    public, secret = folder / "node.crt", folder / "node.key"
    public.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    secret.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    secret.chmod(0o600)
    return {
        "RAY_USE_TLS": "1",
        "RAY_TLS_SERVER_CERT": str(public),
        "RAY_TLS_SERVER_KEY": str(secret),
        "RAY_TLS_CA_CERT": str(public),
    }


def environment(folder: Path) -> dict[str, str]:
    """The variables of a node: loopback alone, a token, TLS."""
    return {
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        **certificates(folder),
    }


@contextmanager
def two_nodes(folder: Path, variables: dict[str, str]) -> Iterator[Any]:
    """A cluster whose first node computes nothing, and two nodes with a processor each; ends with this block.

    The variables are those of this process from now on: Ray looks at them once.
    """
    os.environ.update(variables, RAY_TMPDIR=str(folder))  # where the test cluster notes its address
    own = folder / "ray"
    own.mkdir()
    cluster_utils = importlib.import_module("ray.cluster_utils")
    options = {"node_ip_address": "127.0.0.1", "object_store_memory": STORE_BYTES, "include_dashboard": False}
    cluster = cluster_utils.Cluster(True, head_node_args={**options, "num_cpus": 0, "temp_dir": str(own)})
    try:
        for _ in range(2):
            cluster.add_node(**options, num_cpus=1)
        yield cluster
    finally:
        cluster.shutdown()


def descendants(process: int) -> set[int]:
    """The processes that a process has started, and that these have."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:  # ended meanwhile
            continue
    family = {process}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return family - {process}


def listening(processes: set[int]) -> set[str]:
    """The addresses, as hexadecimal digits of /proc/net/tcp, on which these processes listen."""
    links = {link for process in processes for link in _links(process)}
    addresses = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            if state == "0A" and f"socket:[{inode}]" in links:
                addresses.add(local.partition(":")[0])
    return addresses


def _links(process: int) -> Iterator[str]:
    try:
        for descriptor in Path(f"/proc/{process}/fd").iterdir():
            yield str(descriptor.readlink())
    except OSError:  # ended meanwhile
        return


LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F"}
"""127.0.0.1, as IPv4 and within IPv6"""


def holding(folder: Path, *values: bytes) -> dict[str, list[str]]:
    """Value -> the files below a folder that hold it."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    contents = {path: path.read_bytes() for path in files}
    return {value.decode(): [path.name for path, content in contents.items() if value in content] for value in values}
