"""Every patch form names its files, in order, with the place in the text that does."""

import pytest

from classifiers.files.patches import changes

DIFF = """diff --git a/old.py b/new.py
similarity index 90%
rename from old.py
rename to new.py
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/fresh.py b/fresh.py
new file mode 100644
--- /dev/null
+++ b/fresh.py
@@ -0,0 +1 @@
+x
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
"""
ENVELOPE = """*** Begin Patch
*** Add File: docs/a b.md
+*** Delete File: not-a-header is still a header line only at the start
*** Update File: src/x.py
*** Move to: src/y.py
@@
-a
+b
*** Delete File: z.txt
*** End Patch
"""
CASES = [
    (
        DIFF,
        [
            ("move", "old.py", "new.py"),
            ("delete", "gone.py", None),
            ("add", "fresh.py", None),
            ("update", "run.sh", None),
        ],
    ),
    (ENVELOPE, [("add", "docs/a b.md", None), ("move", "src/x.py", "src/y.py"), ("delete", "z.txt", None)]),
    ("--- a.txt\t2026-01-01\n+++ a.txt\t2026-01-02\n@@ -1 +1 @@\n-x\n+y\n", [("update", "a.txt", None)]),
    ("src/m.py\n```python\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n", [("update", "src/m.py", None)]),
    ("just words", []),
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=["git", "envelope", "plain", "blocks", "none"])
def test_a_patch_names_its_files(text, expected):
    found = changes(text)
    assert [(c.kind, c.path, c.to) for c in found] == expected
    assert all(c.path in text[c.start : c.end] or c.to for c in found)


def test_a_long_patch_is_cut_off():
    text = "".join(f"*** Delete File: f{i}\n" for i in range(1000))
    assert len(changes(text)) == 300
