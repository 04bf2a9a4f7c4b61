"""The tree agrees with an independent implementation of RFC 6962, and so do the proofs."""

import hashlib

import pytest

from audit.chain import Proofs, Tree, leaf_hash, line_hash, root_from_path


def naive_root(leaves):
    """RFC 6962 §2.1, as written."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return hashlib.sha256(b"\1" + naive_root(leaves[:split]) + naive_root(leaves[split:])).digest()


LINES = [f"record {n}".encode() for n in range(70)]


@pytest.mark.parametrize("size", range(70))
def test_the_compact_range_has_the_root_of_the_definition(size):
    tree = Tree()
    for line in LINES[:size]:
        tree.push(line)
    assert tree.root() == naive_root([leaf_hash(x) for x in LINES[:size]])
    assert Tree.from_json(tree.to_json()).root() == tree.root()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 33, 64, 70])
def test_every_leaf_is_proven_and_no_other(size):
    leaves = [leaf_hash(x) for x in LINES[:size]]
    root = naive_root(leaves)
    proofs = Proofs(leaves)
    for index in range(size):
        path = proofs.path(index)
        assert root_from_path(leaves[index], index, size, path) == root
        assert root_from_path(leaf_hash(b"another"), index, size, path) != root


def test_a_proof_of_the_wrong_length_is_refused():
    leaves = [leaf_hash(x) for x in LINES[:9]]
    path = Proofs(leaves).path(3)
    with pytest.raises(ValueError, match="longer"):
        root_from_path(leaves[3], 3, 9, [*path, path[0]])
    with pytest.raises(ValueError, match="shorter"):
        root_from_path(leaves[3], 3, 9, path[:-1])


def test_the_proofs_are_the_ones_pymerkle_gives():
    pymerkle = pytest.importorskip("pymerkle", reason="the independent tree is a development dependency")
    tree = pymerkle.InmemoryTree(algorithm="sha256")
    for line in LINES:
        tree.append_entry(line)
    leaves = [leaf_hash(x) for x in LINES]
    assert tree.get_root() == naive_root(leaves)
    for index in (0, 1, 31, 32, 63, 64, 69):
        proof = tree.prove_inclusion(index + 1)
        theirs = [bytes.fromhex(h) for h in proof.serialize()["path"]]
        assert set(Proofs(leaves).path(index)) <= set(theirs)


def test_prev_is_the_hash_of_the_line_without_its_end():
    assert line_hash(b"{}") == "sha256:" + hashlib.sha256(b"{}").hexdigest()
