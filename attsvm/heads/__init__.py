"""Attention heads as data: the tokens and queries of each, and its Att-SVM.

Tokens are stored once per sequence, and a query sees the tokens that its mask allows. The logits of
a head are x^T W z. `capture` reads heads from PyTorch modules, `capture_qk` from queries and keys,
`read_heads` from files. `Heads.table` tells which heads select tokens, and `Head.compare` compares
W with the Att-SVM that selects the tokens to which the head attends most.

Heads that predict, which map the output of attention to a number, are in `attsvm.prediction`.
"""

from attsvm.heads.capturing import capture
from attsvm.heads.comparison import Comparison
from attsvm.heads.files import read_head
from attsvm.heads.head import Head
from attsvm.heads.qk import capture_qk, read_heads
from attsvm.heads.table import Heads, Row, Table

__all__ = [
    "Comparison",
    "Head",
    "Heads",
    "Row",
    "Table",
    "capture",
    "capture_qk",
    "read_head",
    "read_heads",
]
