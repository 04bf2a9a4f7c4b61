"""The console entry refuses to run over another distribution's folders."""

from proxy.entry import foreign_owner


def test_our_own_folders_are_no_problem():
    assert foreign_owner({"proxy": ["onlooker"], "audit": ["onlooker", "onlooker"]}) is None


def test_another_owner_is_named_in_one_sentence():
    said = foreign_owner({"proxy": ["onlooker", "proxy.py"]})
    assert said is not None
    assert "proxy.py" in said
    assert said.count("\n") == 0
