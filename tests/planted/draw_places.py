#!/usr/bin/env python3
"""draw_places.py SEED COUNT FOLDER...: statements of C++ sources, drawn at random. Somebody who
has not seen the tests plants a fault at each: what a tired colleague might have written there."""
import pathlib
import random
import re
import sys

# Only what computes or decides can be wrong at run time.
NO_STATEMENT = re.compile(
    r"^\s*($|//|#|[{}()\];,]+$|namespace|using|template|struct|class|enum|public:|private:"
    r"|static_assert|case .*:$|default:$|else\b.*\{$|extern)"
)
STATEMENT = re.compile(r"=|\breturn\b|\bif\b|\bfor\b|\bwhile\b|\w\(.*\);|[?<>+\-*/%|&]")

seed, count, folders = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
places = [
    (path, number, line.strip())
    for path in sorted(p for f in folders for p in pathlib.Path(f).rglob("*.?pp"))
    for number, line in enumerate(path.read_text().splitlines(), 1)
    if line.startswith(" ") and not NO_STATEMENT.match(line) and STATEMENT.search(line)
]
for path, number, line in sorted(random.Random(seed).sample(places, min(count, len(places)))):
    print(f"{path}:{number}: {line}")
