"""``python tests/fuzz/run.py TARGET SECONDS [CORPUS_FOLDER]``: one target under atheris for so long; exit 0 when nothing broke.

What breaks it is written to ``crash-…`` in the working directory, to become a test.
"""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["proxy.relay", "proxy.spool", "proxy.wire"]):
    sys.path.insert(0, str(Path(__file__).parent))
    from targets import TARGETS


def _word(raw):
    """A line of libFuzzer's dictionary format."""
    return '"' + "".join(f"\\x{byte:02x}" for byte in raw) + '"\n'


def main(name, seconds, folder=None):
    target = TARGETS[name]
    with tempfile.TemporaryDirectory() as own:
        corpus = Path(folder or own) / "corpus"
        corpus.mkdir(exist_ok=True)
        for number, seed in enumerate(target.corpus()):
            (corpus / f"seed-{number}").write_bytes(seed)
        limits = ["-max_len=65536", "-timeout=120", "-rss_limit_mb=2048", "-print_final_stats=1", "-seed=1"]
        limits.append(f"-max_total_time={seconds}")
        if target.words:
            words = Path(own) / "words"
            words.write_text("".join(_word(one) for one in target.words), encoding="ascii")
            limits.append(f"-dict={words}")
        atheris.Setup([sys.argv[0], *limits, str(corpus)], target.run)
        atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
