"""Numbers as Go prints them, which is how node_exporter prints them."""

from __future__ import annotations

_PLAIN_FROM = 1e-4
_DIGITS_PLAIN = 6


def go_number(value: float) -> str:
    """The shortest text that reads back as the value, with an exponent outside 1e-4 to 1e6.

    >>> go_number(2048.0), go_number(0.25), go_number(1234567.0), go_number(2.5e-05)
    ('2048', '0.25', '1.234567e+06', '2.5e-05')
    """
    if value == 0.0:
        return "0"
    size = abs(value)
    if size < 10**_DIGITS_PLAIN and size >= _PLAIN_FROM:
        return str(int(value)) if value.is_integer() else repr(value)
    digits, exponent = _scientific(size)
    sign = "-" if value < 0 else ""
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{exponent:+03d}"


def _scientific(size: float) -> tuple[str, int]:
    """Shortest digits and exponent of a positive number."""
    text = repr(size)
    if "e" in text:
        mantissa, exponent = text.split("e")
        return mantissa.replace(".", "").rstrip("0") or "0", int(exponent)
    whole, _, fraction = text.partition(".")
    if whole != "0":
        return (whole + fraction).rstrip("0"), len(whole) - 1
    digits = fraction.lstrip("0")
    return digits.rstrip("0"), len(digits) - len(fraction) - 1
