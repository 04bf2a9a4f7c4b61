"""Who could put another folder in the place of ours."""

import os

import pytest

from proxy.folders import alone_in, private_directory, private_folder, replaceable

ME = os.geteuid()


def folder(mode, uid=ME, gid=0):
    return os.stat_result((0o040000 | mode, 0, 0, 2, uid, gid, 0, 0, 0, 0))


@pytest.mark.parametrize(
    ("info", "alone", "expected"),
    [
        (folder(0o700), False, False),
        (folder(0o755, uid=0), False, False),
        (folder(0o700, uid=ME + 1), True, True),
        (folder(0o777), True, True),
        (folder(0o1777), False, False),
        (folder(0o775), False, True),
        (folder(0o775), True, False),
        (folder(0o2770), True, False),
        (folder(0o772), True, True),
    ],
)
def test_who_can_replace_what_is_in_a_folder(info, alone, expected):
    assert replaceable(info, lambda _gid: alone) is expected


def test_a_group_we_are_not_in_is_others():
    strangers = next(g for g in range(70_000, 70_100) if g not in {os.getegid(), *os.getgroups()})
    assert not alone_in(strangers)


def test_a_volume_of_our_own_group_holds_our_state(tmp_path):
    volume = tmp_path / "volume"
    volume.mkdir()
    volume.chmod(0o2770)
    if not alone_in(volume.stat().st_gid):
        pytest.skip("other accounts are in this process's group here: not run")
    assert private_directory(volume / "state").stat().st_mode & 0o777 == 0o700


def test_a_file_where_a_folder_was_meant_is_named_as_that(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError) as raised:
        private_folder(tmp_path / "file" / "below")
    assert (raised.value.filename, raised.value.strerror) == (str(tmp_path / "file"), "Not a directory")
