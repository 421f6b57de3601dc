"""A state as bytes and back, bit for bit and without pickle.

Layout: magic `PSTA`, uint64 little-endian length of the header, header (JSON), then the tensors'
bytes one after the other. The header holds a skeleton of the state with a number in place of each
tensor, and a table of the tensors' types and shapes. The digest is over all of it.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import struct
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from paramedic.remediation.trainer.errors import StateEncodingError

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAGIC = b"PSTA"
_PREFIX = struct.Struct("<4sQ")


@dataclass(frozen=True, slots=True)
class EncodedState:
    """A state's header and its tensors, not yet copied into one buffer."""

    header: bytes
    tensors: tuple[torch.Tensor, ...]

    @property
    def size_bytes(self) -> int:
        """How many bytes `chunks` yields in all."""
        return _PREFIX.size + len(self.header) + sum(map(_size_bytes, self.tensors))

    def chunks(self) -> Iterator[bytes]:
        """All bytes, in order."""
        yield _PREFIX.pack(_MAGIC, len(self.header))
        yield self.header
        for tensor in self.tensors:
            yield _bytes_of(tensor)

    def digest(self) -> str:
        """SHA-256 of all bytes, in hexadecimal."""
        digest = hashlib.sha256()
        for chunk in self.chunks():
            digest.update(chunk)
        return digest.hexdigest()


def encode_state(state: Any, *, copy: bool = False) -> EncodedState:
    """Take a state apart; `copy` detaches it from tensors that training goes on to change.

    Raises StateEncodingError for a value that cannot be written, with its path.
    """
    tensors: list[torch.Tensor] = []
    skeleton = _write(state, tensors, "state")
    table = [[str(tensor.dtype).removeprefix("torch."), list(tensor.shape)] for tensor in tensors]
    header = json.dumps({"skeleton": skeleton, "tensors": table}, separators=(",", ":")).encode()
    kept = tuple(_plain(tensor, copy=copy) for tensor in tensors)
    return EncodedState(header, kept)


def decode_state(data: bytearray) -> Any:
    """The state that `chunks` wrote. The tensors use the memory of `data`.

    Raises StateEncodingError when the bytes are not a state.
    """
    if len(data) < _PREFIX.size:
        raise StateEncodingError(f"state of {len(data)} bytes is shorter than its prefix")
    magic, header_length = _PREFIX.unpack_from(data)
    if magic != _MAGIC:
        raise StateEncodingError(f"state starts with {magic!r}, not with {_MAGIC!r}")
    start = _PREFIX.size + header_length
    try:
        header = json.loads(bytes(data[_PREFIX.size : start]))
        tensors = _read_tensors(header["tensors"], data, start)
        return _read(header["skeleton"], tensors)
    except (
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        RuntimeError,
        OverflowError,
    ) as error:
        raise StateEncodingError(f"state of {len(data)} bytes cannot be read: {error}") from error


def _write(value: Any, tensors: list[torch.Tensor], path: str) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    if type(value) is int:
        return value
    if type(value) is float:
        return {"float": value.hex()}
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return {"tensor": len(tensors) - 1}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, dict):
        return {_dict_tag(value): _write_items(value, tensors, path)}
    if type(value) in {list, tuple}:
        items = [_write(item, tensors, f"{path}[{index}]") for index, item in enumerate(value)]
        return items if isinstance(value, list) else {"tuple": items}
    raise StateEncodingError(
        f"{path} is a {type(value).__module__}.{type(value).__qualname__}, which cannot travel: "
        "use tensors, numbers, strings, bytes, None, lists, tuples and dicts"
    )


def _dict_tag(value: dict[Any, Any]) -> str:
    return "counter" if isinstance(value, Counter) else "dict"


def _write_items(value: dict[Any, Any], tensors: list[torch.Tensor], path: str) -> list[Any]:
    return [
        [_write(key, tensors, f"{path} key"), _write(item, tensors, f"{path}[{key!r}]")]
        for key, item in value.items()
    ]


def _read(value: Any, tensors: list[torch.Tensor]) -> Any:
    if isinstance(value, list):
        return [_read(item, tensors) for item in value]
    if not isinstance(value, dict):
        return value
    ((tag, content),) = value.items()
    match tag:
        case "float":
            return float.fromhex(content)
        case "tensor":
            return tensors[content]
        case "bytes":
            return bytes.fromhex(content)
        case "tuple":
            return tuple(_read(item, tensors) for item in content)
        case "dict" | "counter":
            items = {_read(key, tensors): _read(item, tensors) for key, item in content}
            return items if tag == "dict" else Counter(items)
        case _:
            raise ValueError(f"unknown tag {tag!r}")


def _read_tensors(table: list[Any], data: bytearray, start: int) -> list[torch.Tensor]:
    tensors = []
    for name, shape in table:
        dtype = getattr(torch, name)
        count = 1
        for length in shape:
            count *= length
        tensors.append(_read_tensor(data, start, dtype, count).reshape(shape))
        start += count * dtype.itemsize
    if start != len(data):
        raise ValueError(f"its tensors end at byte {start}")
    return tensors


def _read_tensor(data: bytearray, start: int, dtype: torch.dtype, count: int) -> torch.Tensor:
    if count == 0:
        return torch.empty(0, dtype=dtype)
    size = count * dtype.itemsize
    if start + size > len(data):
        raise ValueError(f"a tensor ends at byte {start + size}")
    # Through bytes, because a tensor's elements may start at an address of any alignment.
    raw = torch.frombuffer(data, dtype=torch.uint8, count=size, offset=start)
    return raw.clone().view(dtype)


def _plain(tensor: torch.Tensor, *, copy: bool) -> torch.Tensor:
    plain = tensor.detach().to("cpu").contiguous()
    shares = plain.data_ptr() == tensor.data_ptr()
    return plain.clone() if copy and shares else plain


def _size_bytes(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def _bytes_of(tensor: torch.Tensor) -> bytes:
    flat = tensor.reshape(-1)
    if flat.is_conj() or flat.is_neg():
        flat = flat.resolve_conj().resolve_neg()
    # Through the address, because NumPy may not be installed. A copy, because a view would not
    # keep the tensor alive.
    return ctypes.string_at(flat.data_ptr(), _size_bytes(flat)) if flat.numel() else b""
