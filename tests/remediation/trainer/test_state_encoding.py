"""A state survives its way through bytes, bit for bit."""

from __future__ import annotations

import contextlib
import json
import math
import struct
from collections import Counter, OrderedDict
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.remediation.trainer.errors import StateEncodingError
from paramedic.remediation.trainer.state_encoding import decode_state, encode_state

_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.binary(max_size=8)
)
_KEYS = st.integers() | st.text(max_size=5) | st.booleans() | st.floats(allow_nan=False)
_STATES = st.recursive(
    _LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(_KEYS, inner, max_size=4)
    ),
    max_leaves=20,
)
_DTYPES = (
    torch.float32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int8,
    torch.uint8,
    torch.bool,
    torch.complex64,
)


def through_bytes(state: Any) -> Any:
    return decode_state(bytearray(b"".join(encode_state(state).chunks())))


def with_types(value: Any) -> Any:
    """Equality of Python would let 1, 1.0 and True pass for each other."""
    if isinstance(value, dict):
        return [(with_types(key), with_types(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return (type(value).__name__, [with_types(item) for item in value])
    if isinstance(value, float):
        return ("float", struct.pack("<d", value))
    return (type(value).__name__, value)


@pytest.mark.long
@settings(max_examples=50)
@given(_STATES)
def test_plain_values_come_back_with_their_types_and_order(state: Any) -> None:
    assert with_types(through_bytes(state)) == with_types(state)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -0.0, 0.1, 5e-324])
def test_every_float_comes_back_exactly(value: float) -> None:
    assert with_types(through_bytes([value])) == with_types([value])


@settings(max_examples=50)
@given(st.sampled_from(_DTYPES), st.lists(st.integers(0, 4), max_size=3), st.integers(0, 2**32 - 1))
def test_tensors_come_back_bit_for_bit(dtype: torch.dtype, shape: list[int], seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    count = math.prod(shape) * dtype.itemsize
    limit = 2 if dtype is torch.bool else 256
    raw = torch.randint(0, limit, (count,), generator=generator, dtype=torch.uint8)
    tensor = raw.view(dtype).reshape(shape)

    (back,) = through_bytes([tensor])

    assert back.dtype == dtype
    assert list(back.shape) == shape
    assert back.reshape(-1).view(torch.uint8).tolist() == raw.tolist()


def test_tensors_of_odd_sizes_may_follow_each_other() -> None:
    state = {"a": torch.ones(3, dtype=torch.uint8), "b": torch.tensor(2.5, dtype=torch.float64)}
    back = through_bytes(state)
    assert back["b"].item() == 2.5


def test_a_tensor_that_is_not_contiguous_comes_back() -> None:
    tensor = torch.arange(6).reshape(2, 3).t()
    (back,) = through_bytes([tensor])
    assert torch.equal(back, tensor)


def test_the_states_of_an_optimizer_and_a_scheduler_come_back() -> None:
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 4])
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    scheduler.step()
    state = {"o": optimizer.state_dict(), "s": scheduler.state_dict(), "m": model.state_dict()}

    back = through_bytes(state)

    optimizer.load_state_dict(back["o"])
    scheduler.load_state_dict(back["s"])
    assert back["s"]["milestones"] == Counter({2: 1, 4: 1})
    assert encode_state(back).digest() == encode_state(state).digest()


def test_tensors_of_every_kind_travel_in_one_state() -> None:
    base = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    state = {
        "bfloat16": torch.tensor([1.0, float("nan"), -0.0], dtype=torch.bfloat16),
        "int64": torch.tensor([2**62 + 1, -1]),
        "bool": torch.tensor([True, False, True]),
        "empty": torch.empty(0, 3, dtype=torch.int16),
        "zero dimensions": torch.tensor(7, dtype=torch.int32),
        "a row of another": base[1],
        "every second": base[:, ::2],
        "expanded": torch.tensor([1.5]).expand(4),
        "conjugate": torch.tensor([1 + 2j]).conj(),
        "parameter": torch.nn.Parameter(torch.ones(2)),
    }
    back = through_bytes(state)
    assert list(back) == list(state)
    for name, tensor in state.items():
        assert (back[name].dtype, back[name].shape) == (tensor.dtype, tensor.shape)
        assert torch.equal(back[name].nan_to_num(9), tensor.detach().nan_to_num(9)), name
    assert torch.signbit(back["bfloat16"][2])
    assert not back["parameter"].requires_grad


def damaged_header(change: dict[str, Any]) -> bytearray:
    header = {"skeleton": {"tensor": 0}, "tensors": [["float32", [2]]]} | change
    text = json.dumps(header).encode()
    return bytearray(struct.pack("<4sQ", b"PSTA", len(text)) + text + bytes(8))


@pytest.mark.parametrize(
    "change",
    [
        {"tensors": [["float32", [3]]]},
        {"tensors": [["float32", [1]]]},
        {"tensors": [["float32", [-2]]]},
        {"tensors": [["float32", [2**40, 2**40]]]},
        {"tensors": [["nn", [2]]]},
        {"tensors": [["float33", [2]]]},
        {"tensors": [["float32", ["2"]]]},
        {"tensors": None},
        {"skeleton": {"tensor": 1}},
        {"skeleton": {"pickle": "x"}},
        {"skeleton": {}},
        {"skeleton": {"float": "0x1p99999"}},
        {"skeleton": {"dict": [[{"dict": []}, 1]]}},
        {"skeleton": {"bytes": "xyz"}},
    ],
    ids=lambda change: str(change)[:40],
)
def test_a_header_that_makes_no_sense_is_refused(change: dict[str, Any]) -> None:
    assert decode_state(damaged_header({})).tolist() == [0, 0]
    with pytest.raises(StateEncodingError, match="cannot be read"):
        decode_state(damaged_header(change))


@settings(max_examples=40)
@given(st.data())
def test_a_turned_bit_gives_a_state_or_a_refusal_and_no_other_error(data: st.DataObject) -> None:
    encoded = encode_state({"x": torch.ones(3), "y": [1.5, (2, None)], "z": {3: b"b"}})
    whole = bytearray(b"".join(encoded.chunks()))
    at = data.draw(st.integers(0, 8 * len(whole) - 1))
    whole[at // 8] ^= 1 << at % 8
    with contextlib.suppress(StateEncodingError):
        decode_state(whole)


def test_a_copy_does_not_follow_the_live_tensor() -> None:
    live = torch.zeros(3)
    kept = encode_state({"x": live}, copy=True)
    live.fill_(1)
    assert decode_state(bytearray(b"".join(kept.chunks())))["x"].tolist() == [0, 0, 0]


def test_the_digest_changes_with_one_bit() -> None:
    one, other = torch.zeros(1000), torch.zeros(1000)
    other[999] = -0.0
    assert encode_state(one).digest() != encode_state(other).digest()


def test_an_ordered_dict_is_a_dict() -> None:
    assert through_bytes(OrderedDict(a=1)) == {"a": 1}


def test_what_cannot_travel_is_named_with_its_path() -> None:
    with pytest.raises(StateEncodingError, match=r"state\['a'\]\[1\] is a builtins\.set"):
        encode_state({"a": [1, {2}]})


@settings(max_examples=40)
@given(st.binary(max_size=200))
def test_bytes_that_are_no_state_are_refused(data: bytes) -> None:
    with pytest.raises(StateEncodingError):
        decode_state(bytearray(data))


@settings(max_examples=40)
@given(st.integers(0, 400))
def test_a_state_that_was_cut_is_refused(length: int) -> None:
    whole = b"".join(encode_state({"x": torch.ones(50), "y": [1.5]}).chunks())
    cut = whole[: min(length, len(whole) - 1)]
    with pytest.raises(StateEncodingError):
        decode_state(bytearray(cut))
