#!/usr/bin/env python3
"""container_rules.py ROOT: what can be known of containers/ without building them: options that
exist, a module for CUDA devices where CUDA is installed, words of doctor's, and files that the
build wants."""
import re
import sys
from pathlib import Path

from spack_rules import Tree

# Folders that a build without tests reads, and what is not built in a container.
NOT_COPIED = {"tests"}


def breaches(root):
    tree = Tree(root)
    files = {file.name: file.read_text() for file in (root / "containers").iterdir()
             if re.match(r"Dockerfile(\.cuda)?$|.*\.def$", file.name)}
    if files.keys() != {"Dockerfile", "Dockerfile.cuda", "spillway.def"}:
        yield f"recipes: {sorted(files)}"
    for name, text in files.items():
        options = dict(re.findall(r"-D (\w+)=(\S+)", text))
        for option in options:
            if option not in tree.options and not re.match(r"CMAKE_|BUILD_TESTING$", option):
                yield f"{name}: unknown option: {option}"
        if (options.get("SPILLWAY_CUDA") == "ON") != ("nvcc" in text):
            yield f"{name}: SPILLWAY_CUDA and nvcc, one without the other"
        releases = set(re.findall(r"(?:cuda-\w+(?:-dev)?|libcublas(?:-dev)?)-(\d+-\d+)", text))
        if len(releases) > 1:
            yield f"{name}: packages of {len(releases)} releases of CUDA: {sorted(releases)}"
        for words in re.findall(r"spillway doctor \| grep (?:-E )?'(.*?)'", text):
            # Images are built without a driver.
            if not re.search(words, (root / "lib/run/device_module.cpp").read_text()):
                yield f"{name}: doctor does not say '{words}' without a driver"
    wanted = {path.parent.relative_to(root).parts[0] for path in root.glob("*/CMakeLists.txt")}
    wanted |= {"cmake", "modules", "share", "input", "jobs"}
    copied = set(re.search(r"^    (app .*) /src/$", files["spillway.def"], re.M)[1].split())
    for folder in sorted(wanted - copied - NOT_COPIED):
        yield f"spillway.def: does not copy {folder}"


if __name__ == "__main__":
    found = list(breaches(Path(sys.argv[1]).resolve()))
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))
