"""Files wherever they are: a local folder or `s3://bucket/prefix`, through pyarrow's file systems.

What is written is there as a whole or not at all: a local file is renamed into its place, an object appears when its
upload ends.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

SECRETS = {"access_key", "secret_key", "session_token"}


def open_uri(uri: str) -> tuple[pafs.FileSystem, str]:
    """The file system of a URI or path, and the path in it.

    `AWS_ENDPOINT_URL` names another service than Amazon's, as it does for Amazon's own tools.
    """
    if uri.startswith("s3a://"):
        uri = "s3://" + uri[len("s3a://"):]
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if uri.startswith("s3://") and endpoint and "endpoint_override" not in uri:
        scheme, _, host = endpoint.partition("://")
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
        filesystem = pafs.S3FileSystem(endpoint_override=host, scheme=scheme, region=region)
        return filesystem, uri[len("s3://"):].rstrip("/")
    if "://" in uri:
        filesystem, path = pafs.FileSystem.from_uri(uri)
        return filesystem, path.rstrip("/")
    return pafs.LocalFileSystem(), os.path.abspath(uri)


def is_local(uri: str) -> bool:
    """Its files can be opened as they are."""
    return "://" not in uri or uri.startswith("file://")


@dataclass(frozen=True)
class Lake:
    """A folder that is written to. Pickles as its URI."""

    uri: str

    def at(self, name: str) -> tuple[pafs.FileSystem, str]:
        filesystem, root = open_uri(self.uri)
        return filesystem, f"{root}/{name}" if name else root

    def exists(self, name: str) -> bool:
        filesystem, path = self.at(name)
        return filesystem.get_file_info(path).type == pafs.FileType.File

    def names(self, folder: str) -> list[str]:
        """The files below a folder, with their paths from the lake."""
        filesystem, path = self.at(folder)
        _, root = self.at("")
        found = filesystem.get_file_info(pafs.FileSelector(path, recursive=True, allow_not_found=True))
        files = (info.path for info in found if info.type == pafs.FileType.File)
        return sorted(path[len(root) + 1:] for path in files if ".part-" not in path)

    @contextmanager
    def writing(self, name: str):
        """A stream whose file takes its place when the block ends without an error."""
        filesystem, path = self.at(name)
        if isinstance(filesystem, pafs.LocalFileSystem):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            aside = f"{path}.part-{uuid.uuid4().hex}"
            try:
                with filesystem.open_output_stream(aside, compression=None) as stream:
                    yield stream
                with open(aside, "rb+") as written:
                    os.fsync(written.fileno())
                os.replace(aside, path)
            finally:
                if os.path.exists(aside):
                    os.unlink(aside)
        else:
            # closing an upload completes it: what fails stays in memory or in a file of our own
            aside = pa.BufferOutputStream()
            yield aside
            with filesystem.open_output_stream(path, compression=None) as stream:
                stream.write(aside.getvalue())

    def write_table(self, name: str, table: pa.Table, **options) -> None:
        with self.writing(name) as stream:
            pq.write_table(table, stream, compression="zstd", **options)

    def parquet(self, name: str) -> pq.ParquetFile:
        filesystem, path = self.at(name)
        return pq.ParquetFile(filesystem.open_input_file(path))

    def read_table(self, name: str, columns=None, filters=None) -> pa.Table:
        filesystem, path = self.at(name)
        return pq.read_table(path, filesystem=filesystem, columns=columns, filters=filters, partitioning=None)

    def read_json(self, name: str):
        """`None` where there is no such file."""
        if not self.exists(name):
            return None
        filesystem, path = self.at(name)
        with filesystem.open_input_stream(path, compression=None) as stream:
            return json.loads(stream.read())

    def write_json(self, name: str, value) -> None:
        with self.writing(name) as stream:
            stream.write(json.dumps(value, indent=1, sort_keys=True).encode())

    def delete(self, name: str) -> None:
        filesystem, path = self.at(name)
        if filesystem.get_file_info(path).type == pafs.FileType.File:
            filesystem.delete_file(path)

    def delete_folder(self, name: str) -> None:
        for file in self.names(name):
            self.delete(file)
        filesystem, path = self.at(name)
        if isinstance(filesystem, pafs.LocalFileSystem):
            shutil.rmtree(path, ignore_errors=True)


def fetch(uri: str, path: str, to: Path, first_bytes: int | None = None) -> None:
    """Copies a file, or its first bytes, to this machine."""
    filesystem, _ = open_uri(uri)
    to.parent.mkdir(parents=True, exist_ok=True)
    with filesystem.open_input_file(path) as source, open(to, "wb") as target:
        left = first_bytes if first_bytes is not None else source.size()
        while left > 0 and (some := source.read(min(left, 8 << 20))):
            target.write(some)
            left -= len(some)
