import sys
from pathlib import Path

# The tests share the tools' view of what the book consists of.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
