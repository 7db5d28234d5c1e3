#!/usr/bin/env python3
"""easyconfig_rules.py ROOT FILE: what EasyBuild cannot know of our easyconfig: that it names all
that the program needs, options that exist, and files that are installed."""
import re
import sys
from pathlib import Path

from spack_rules import NOT_FOR_SPACK, Tree

# GCC and Open MPI are the toolchain's; of Python only jobs/ makes use, of gnuplot only charts.
FROM_ELSEWHERE = {"compiler", "MPI", "mpirun", "python3", "gnuplot"}


def breaches(root, file):
    tree = Tree(root)
    text = file.read_text()
    given = {}
    constants = {"SOURCELOWER_TAR_GZ": "spillway-0.1.0.tar.gz", "SYSTEM": "system"}
    exec(compile(text, str(file), "exec"), constants, given)
    named = {name.lower() for name, *_ in given["dependencies"] + given["builddependencies"]}
    for key, spack in tree.needed.items():
        known = {key.lower(), spack.split("+")[0], spack.replace("-", "_")}
        if key in FROM_ELSEWHERE or spack in tree.test_only | NOT_FOR_SPACK:
            continue
        if not known & named:
            yield f"missing dependency: {key}"
    for option in re.findall(r"-D(\w+)=", given["configopts"]):
        if option not in tree.options and option != "BUILD_TESTING":
            yield f"unknown option: {option}"
    yield from wrong_for_cuda(tree, given, dict(dependency[:2] for dependency in
                                                given["dependencies"]).get("CUDA"))
    paths = given["sanity_check_paths"]["files"] + given["sanity_check_paths"]["dirs"]
    for path in [path for path in paths if isinstance(path, str)]:
        source = path.removeprefix("share/spillway/")
        if source != path and not (root / source).exists():
            yield f"sanity check of what is not installed: {path}"
    if given["version"] != tree.version or f"-{tree.version}-" not in file.name:
        yield f"version: the tree is {tree.version}"


def wrong_for_cuda(tree, given, version):
    options = dict(re.findall(r"-D(\w+)=(\S+)", given["configopts"]))
    module = [path for path in given["sanity_check_paths"]["files"] if "cuda.so" in str(path)]
    if {"SPILLWAY_CUDA" in options, bool(module), "CUDA" in given.get("versionsuffix", ""),
            bool(version)} not in ({True}, {False}):
        yield "CUDA: a dependency, option, suffix or sanity check without the others"
    if not version:
        return
    if [int(part) for part in version.split(".")] < [int(p) for p in tree.oldest_cuda.split(".")]:
        yield f"CUDA {version}: the tree wants {tree.oldest_cuda}"
    url, sha256 = tree.kokkos_archive
    archives = [source["source_urls"][0] + source["filename"] for source in given["sources"]
                if isinstance(source, dict)]
    if archives != [url] or given["checksums"][1:] != [sha256]:
        yield "the module's Kokkos is not the one that cmake/Kokkos.cmake pins"
    unpacked = "%(builddir)s/" + url.rpartition("/")[2].removesuffix(".tar.gz")
    if options.get("SPILLWAY_KOKKOS_CUDA_SOURCE") != unpacked:
        yield f"SPILLWAY_KOKKOS_CUDA_SOURCE is not {unpacked}"


if __name__ == "__main__":
    found = list(breaches(Path(sys.argv[1]).resolve(), Path(sys.argv[2])))
    for breach in found:
        print(breach)
    sys.exit(bool(found))
