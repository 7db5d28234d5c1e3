#!/usr/bin/env python3
"""draw_comments.py SEED COUNT FOLDER...: comments of C++ sources, drawn at random, to be judged one
by one: is each a plain English sentence that a reader who knows nothing of the code understands?"""
import pathlib
import random
import sys

seed, count, folders = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
comments = []
for path in sorted(p for f in folders for p in pathlib.Path(f).rglob("*.?pp")):
    block, begin = [], 0
    for number, line in enumerate(path.read_text().splitlines() + [""], 1):
        code, mark, text = line.partition("//")
        if mark and not code.strip():
            begin = begin or number
            block.append(text.strip())
            continue
        if block:
            comments.append((path, begin, " ".join(block)))
            block, begin = [], 0
        if mark and '"' not in code and code.strip() != "}":
            comments.append((path, number, text.strip()))
for path, number, text in sorted(random.Random(seed).sample(comments, min(count, len(comments)))):
    print(f"{path}:{number}: {text}")
