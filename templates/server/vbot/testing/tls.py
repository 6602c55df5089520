"""Certificates of stand-ins that the framework connects to only with TLS."""

import ssl
from pathlib import Path

import trustme


def certify(authority_file: Path) -> ssl.SSLContext:
    """Make a certificate for this machine, and write its authority, which the bot trusts."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(str(authority_file))
    return context
