"""Nodes with TLS, users and roles: certificates of the test's own, made for loopback."""

from __future__ import annotations

import shutil
import ssl
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trustme

from support.cluster_nodes import Cluster, start_cluster
from support.engine import HOME
from support.patience import HANGS

PASSWORD = "Tall-Birch-41-quietly"


@dataclass
class SecuredCluster:
    """A cluster with users.

    Attributes:
        cluster: The nodes; its own requests have all rights.
        ca: The file with the certificate of the authority.
    """

    cluster: Cluster
    ca: Path

    def add_user(self, name: str, role: str, rights: dict[str, Any]) -> None:
        """Make a user with exactly the rights of a role."""
        for path, body in (
            (f"roles/{role}", rights),
            (f"internalusers/{name}", {"password": PASSWORD}),
            (f"rolesmapping/{role}", {"users": [name]}),
        ):
            self._put(f"_plugins/_security/api/{path}", body)

    def _put(self, path: str, body: dict[str, Any]) -> None:
        try:
            self.cluster.ask(path, "PUT", body)
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error.read()[:500]!r}") from None

    def wait(self) -> None:
        """Wait until users can be made; a request before that would hang for ten seconds."""
        end = time.monotonic() + HANGS
        while True:
            try:
                self.cluster.ask("_plugins/_security/health")
                return
            except urllib.error.HTTPError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)


def start_secured(folder: Path, count: int = 1) -> SecuredCluster:
    """Start secured nodes.

    Args:
        folder: An empty folder.
        count: Number of nodes.
    """
    authority = trustme.CA(organization_name="tests")
    ca = folder / "ca.pem"
    authority.cert_pem.write_to_path(ca)
    files = {name: _issued(authority, folder, name) for name in ("node", "admin")}
    settings = {
        "plugins.security.ssl.http.enabled": True,
        "plugins.security.ssl.transport.enforce_hostname_verification": False,
        "plugins.security.allow_default_init_securityindex": True,
        "plugins.security.authcz.admin_dn": [_subject(files["admin"][0])],
        "plugins.security.nodes_dn": [_subject(files["node"][0])],
        "plugins.security.audit.type": "noop",
    }
    for layer in ("transport", "http"):
        settings |= {
            f"plugins.security.ssl.{layer}.pemcert_filepath": "node.pem",
            f"plugins.security.ssl.{layer}.pemkey_filepath": "node.key",
            f"plugins.security.ssl.{layer}.pemtrustedcas_filepath": "ca.pem",
        }

    def prepare(node: Path) -> None:
        (node / "plugins").symlink_to(HOME / "plugins")
        source = HOME / "plugins" / "opensearch-security" / "config"
        shutil.copytree(source, node / "config" / "opensearch-security")
        for file in (ca, *files["node"]):
            shutil.copy(file, node / "config")

    context = ssl.create_default_context(cafile=str(ca))
    context.load_cert_chain(*map(str, files["admin"]))
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context))
    cluster = start_cluster(folder / "nodes", count, settings, prepare, opener.open)
    secured = SecuredCluster(cluster, ca)
    try:
        secured.wait()
    except BaseException:
        cluster.stop()
        raise
    return secured


def _issued(authority: trustme.CA, folder: Path, name: str) -> tuple[Path, Path]:
    """The files of a certificate and of its key."""
    made = authority.issue_cert(
        "localhost", "127.0.0.1", common_name=name, organization_name="tests",
        organization_unit_name="tests",
    )  # fmt: skip
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    certificate.write_bytes(b"".join(blob.bytes() for blob in made.cert_chain_pems))
    key.write_bytes(_as_pkcs8(made.private_key_pem.bytes()))
    return certificate, key


def _as_pkcs8(pem: bytes) -> bytes:
    from cryptography.hazmat.primitives import serialization

    key = serialization.load_pem_private_key(pem, None)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _subject(certificate: Path) -> str:
    from cryptography import x509

    return x509.load_pem_x509_certificate(certificate.read_bytes()).subject.rfc4514_string()
