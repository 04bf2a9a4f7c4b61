"""The arithmetic of the log: line hashes, the RFC 6962 tree as a compact range, inclusion proofs. Stdlib only.

In: line bytes without their LF (exactly as stored). Out: digests. This file ships in every export bundle.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

ZERO = "sha256:" + "0" * 64  # prev of the first record


def line_hash(line: bytes) -> str:
    """``prev`` of the next line."""
    return "sha256:" + hashlib.sha256(line).hexdigest()


def leaf_hash(line: bytes) -> bytes:
    """RFC 6962 §2.1: a leaf is hashed behind 0x00."""
    return hashlib.sha256(b"\0" + line).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


class Tree:
    """The peaks of the perfect subtrees so far, tallest first: O(log n) memory, O(1) amortised per leaf."""

    __slots__ = ("peaks", "size")

    def __init__(self, size: int = 0, peaks: Iterable[bytes] = ()) -> None:
        self.size = size
        self.peaks: list[bytes] = list(peaks)
        if len(self.peaks) != size.bit_count():
            raise ValueError(f"a tree of {size} leaves has {size.bit_count()} peaks, not {len(self.peaks)}")

    def push(self, line: bytes) -> None:
        digest = hashlib.sha256(b"\0" + line).digest()
        peaks, carry = self.peaks, self.size
        while carry & 1:
            digest = hashlib.sha256(b"\1" + peaks.pop() + digest).digest()
            carry >>= 1
        peaks.append(digest)
        self.size += 1

    def root(self) -> bytes:
        if not self.peaks:
            return hashlib.sha256(b"").digest()
        digest = self.peaks[-1]
        for peak in reversed(self.peaks[:-1]):
            digest = node_hash(peak, digest)
        return digest

    def to_json(self) -> dict[str, Any]:
        return {"size": self.size, "peaks": [p.hex() for p in self.peaks]}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Tree:
        return cls(int(value["size"]), [bytes.fromhex(p) for p in value["peaks"]])


class Proofs:
    """Audit paths in the tree over these leaf hashes; built once in O(n), each path in O(log² n)."""

    def __init__(self, leaves: Sequence[bytes]) -> None:
        self.size = len(leaves)
        self.levels: list[Sequence[bytes]] = [leaves]
        while len(self.levels[-1]) > 1:
            below = self.levels[-1]
            self.levels.append([node_hash(below[n], below[n + 1]) for n in range(0, len(below) - 1, 2)])

    def path(self, index: int) -> list[bytes]:
        """Lowest sibling first (RFC 6962 §2.1.1)."""
        if not 0 <= index < self.size:
            raise IndexError(f"leaf {index} of {self.size}")
        path: list[bytes] = []
        low, high = 0, self.size
        while high - low > 1:
            split = low + _left(high - low)
            right = index >= split
            path.append(self.root(low, split) if right else self.root(split, high))
            low, high = (split, high) if right else (low, split)
        return path[::-1]

    def root(self, low: int, high: int) -> bytes:
        """Of the subtree over leaves [low, high)."""
        width = high - low
        level = width.bit_length() - 1
        if width == 1 << level and low % width == 0:
            return self.levels[level][low >> level]
        split = low + _left(width)
        return node_hash(self.root(low, split), self.root(split, high))


def _left(width: int) -> int:
    """The largest power of two below ``width``."""
    return 1 << ((width - 1).bit_length() - 1)


def root_from_path(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes:
    """The root this path leads to (RFC 9162 §2.1.3.2); ValueError when the path's length does not fit."""
    node, last, digest = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            raise ValueError("the proof is longer than the tree is high")
        if node & 1 or node == last:
            digest = node_hash(sibling, digest)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            digest = node_hash(digest, sibling)
        node, last = node >> 1, last >> 1
    if last:
        raise ValueError("the proof is shorter than the tree is high")
    return digest
