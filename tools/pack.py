"""The built book as one zip file: unpacked anywhere, it opens from the file system, with no network.

python tools/pack.py FILE
"""

from __future__ import annotations

import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from book import ROOT

HTML = ROOT / "_build" / "html"
NAME = "turing-book"  # of the folder in the zip, and of what is published: turing-book.zip, turing-book.pdf
OWN = {f"{NAME}.zip", f"{NAME}.pdf"}


def pack(html: Path, target: Path) -> None:
    """Every file of a built book, in one folder; the same files give the same bytes."""
    with ZipFile(target, "w", ZIP_DEFLATED) as archive:
        for path in sorted(html.rglob("*")):
            inside = path.relative_to(html).as_posix()
            if path.is_file() and inside not in OWN:
                entry = ZipInfo(f"{NAME}/{inside}")
                entry.compress_type, entry.external_attr = ZIP_DEFLATED, 0o644 << 16
                archive.writestr(entry, path.read_bytes())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if not (HTML / "index.html").exists():
        sys.exit(f"There is no book in {HTML}. Build it first: make book")
    pack(HTML, Path(sys.argv[1]))
    print(f"The book is packed: {sys.argv[1]}, {Path(sys.argv[1]).stat().st_size / 1e6:.1f} MB")
