"""A certificate authority, and a server certificate for 127.0.0.1, made with openssl."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Certificates:
    folder: Path

    @classmethod
    def mint(cls, folder: Path) -> Certificates:
        """Makes both in `folder`. Skips the test if there is no openssl."""
        if shutil.which("openssl") is None:
            pytest.skip("no openssl on the PATH")
        folder.mkdir(parents=True, exist_ok=True)
        made = cls(folder)
        new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
        made._run("req", "-x509", *new_key, "-days", "2", "-subj", "/CN=Test CA",
                  "-keyout", "ca.key", "-out", "ca.crt")  # fmt: skip
        made._run("req", *new_key, "-subj", "/CN=127.0.0.1", "-keyout", "server.key",
                  "-out", "server.csr")  # fmt: skip
        (folder / "san.cnf").write_text("subjectAltName = IP:127.0.0.1\n")
        made._run("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key",
                  "-CAcreateserial", "-days", "2", "-extfile", "san.cnf", "-out", "server.crt")  # fmt: skip
        return made

    @property
    def query(self) -> str:
        """The query of a Redis URL that makes the client trust this authority."""
        return f"ssl_ca_certs={self.folder / 'ca.crt'}"

    def settings(self, port: int) -> dict[str, str]:
        """redis.conf directives for a server or Sentinel that has TLS on this port."""
        return {
            "tls-port": str(port),
            "tls-cert-file": str(self.folder / "server.crt"),
            "tls-key-file": str(self.folder / "server.key"),
            "tls-ca-cert-file": str(self.folder / "ca.crt"),
            "tls-auth-clients": "no",
            "tls-replication": "yes",
        }

    def _run(self, *words: str) -> None:
        subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True)
