"""What a file holds is found out by looking at it, and said honestly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.exposition.contents import Contents, contents_of


@pytest.mark.parametrize(
    ("text", "contents"),
    [
        ('DCGM_FI_DEV_GPU_TEMP{gpu="0"} 30\n', Contents.PAGE),
        ("# HELP a b\n# TYPE a gauge\na ERROR\n", Contents.PAGE),
        ("# EOF\n", Contents.PAGE),
        ("up 1\nbad line here\nalso bad\n", Contents.PAGE),
        ('{"status":"success","data":{"result":[]}}', Contents.ANSWER),
        ('\n{\n "status": "error"}', Contents.ANSWER),
        ('{"errorType":"bad","status":"error"}', Contents.ANSWER),
        ("NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.\n", Contents.LOG),
        ("6,1,2,-;nvidia-nvswitch2: open (major=510)\n", Contents.LOG),
        ("[   12.345678] pci 0000:00: something\n", Contents.LOG),
        ("[Sun Feb 23 16:24:18 2025] clocksource: Long readout\n", Contents.LOG),
        ("kern  :warn  : 2025-01-21T04:41:44,285060+00:00 segfault at 7\n", Contents.LOG),
        ("[Feb 27 2025 15:10:02] [ERROR] [tid 1] detected NVSwitch\n", Contents.LOG),
        ("Jan  5 01:02:03 host kernel: hello\n", Contents.LOG),
        ("uuid, power.draw [W]\nGPU-a, 1 W\n", Contents.SMI_QUERY),
    ],
)
def test_each_kind_is_told_by_its_look(text: str, contents: Contents) -> None:
    assert contents_of(text) is contents


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("# Clocks\nDCGM_FI_DEV_SM_CLOCK,  gauge, SM clock (in MHz).\n", "counters file"),
        ("# nThread 1 nGpus 8 minBytes 1 maxBytes 2\n", "nccl-tests"),
        ("dear diary, nothing happened\n", "nothing that can be decoded"),
        ("", "empty"),
        (" \n\n", "empty"),
        ("<!DOCTYPE html>\n<html><body>Sign in</body></html>\n", "a web page (HTML)"),
        ("\n <html><head></head>", "a web page (HTML)"),
    ],
)
def test_anything_else_is_called_what_it_seems_to_be(text: str, word: str) -> None:
    found = contents_of(text)
    assert not isinstance(found, Contents)
    assert word in found


@given(st.text(max_size=300))
def test_no_text_is_too_odd_to_be_looked_at(text: str) -> None:
    assert contents_of(text)
