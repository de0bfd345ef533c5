import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The tests share the tools' view of what the book consists of, and what the paper prints.
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
collect_ignore = ["wrong_answers"]  # answers, and not tests
