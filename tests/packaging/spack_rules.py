#!/usr/bin/env python3
"""spack_rules.py ROOT: holds the recipe under ROOT/spack against what the tree needs and against
what recipes of codes on Kokkos have in common. One line for every breach."""
import re
import sys
from pathlib import Path

import spack_stub
from spack_stub import name_of, variants_of

# Rows of cmake/packages.txt that a recipe names otherwise: languages and virtual packages.
RECIPE_NAMES = {"gcc": "cxx", "openmpi": "mpi", "pkgconf": "pkgconfig", "zlib": "zlib-api"}
# Only jobs/setup.sh wants these, for the wheel that brings Kokkos to bare machines.
NOT_FOR_SPACK = {"py-pip", "ca-certificates-mozilla"}
# Not in the table: no machine lacks a C compiler that has g++; these come with variants.
BESIDES = {"c", "cuda", "cudnn", "nccl"}
BUILD_ONLY = {"c", "cxx", "cmake", "ninja", "pkgconfig"}
STANDARD_OPTIONS = r"CMAKE_\w+$|BUILD_TESTING$"


class Tree:
    """What the sources say of themselves."""

    def __init__(self, root):
        self.root = root
        cmake = [root / "CMakeLists.txt", *sorted((root / "cmake").glob("*.cmake"))]
        text = "\n".join(file.read_text() for file in cmake)
        self.options = set(re.findall(r"^\s*option\((\w+)", text, re.M))
        self.options |= set(re.findall(r"^set\((SPILLWAY_\w+) [^)]*CACHE", text, re.M))
        self.version = re.search(r"project\(spillway VERSION ([\d.]+)", text).group(1)
        self.oldest_cmake = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)", text).group(1)
        self.oldest_kokkos = re.search(r"set\(kokkos_oldest ([\d.]+)", text).group(1)
        self.oldest_cuda = re.search(r"release VERSION_LESS ([\d.]+)", text).group(1)
        self.kokkos_archive = tuple(re.search(rf"set\(kokkos_{part} (\S+)\)", text).group(1)
                                    for part in ("url", "sha256"))
        tests = re.search(r"if\(BUILD_TESTING\)(.*?)endif", (root / "cmake/Dependencies.cmake")
                          .read_text(), re.S).group(1)
        rows = [line.split() for line in (root / "cmake/packages.txt").read_text().splitlines()
                if line and line[0] != "#"]
        self.needed = {key: spack for key, _, _, spack in rows if spack != "-"}
        self.test_only = {self.needed[key] for key in re.findall(r"_of_ours\((\w+)", tests)}
        self.license = re.search(r"^license: (.*)", (root / "CITATION.cff").read_text(), re.M)[1]


class Recipe:
    def __init__(self, path):
        self.module, directives = spack_stub.load(path)
        self.package = self.module.Spillway
        self.all = lambda kind: [given for name, given in directives if name == kind]
        self.variants = {given["name"]: given["default"] for given in self.all("variant")}
        self.depends = self.all("depends_on")
        self.names = {name_of(given["spec"]) for given in self.depends}

    def cmake_args(self, **values):
        package = self.package()
        package.spec = spack_stub.Spec({**self.variants, **values})
        return dict(re.fullmatch(r"-D(\w+):\w+=(.*)", arg).groups() for arg in package.cmake_args())


def about_itself(recipe, tree):
    bases = {base.__name__ for base in recipe.package.__mro__}
    if not {"CMakePackage", "CudaPackage"} <= bases:
        yield "bases", "wants CMakePackage and CudaPackage"
    if not recipe.package.__doc__:
        yield "docstring", "`spack info` shows the class's docstring"
    if [given["identifier"] for given in recipe.all("license")] != [tree.license]:
        yield "license", f"CITATION.cff says {tree.license}"
    if not any(given["names"] for given in recipe.all("maintainers")):
        yield "maintainers", "nobody is named"
    if not recipe.all("version"):
        yield "versions", "there is none"
    for given in recipe.all("version"):
        if not given["pinned"] and not given["branch"]:
            yield "versions", f"{given['ver']} has neither a checksum, a commit nor a branch"
    if not any(hasattr(recipe.package, place) for place in ("git", "url")):
        yield "source", "neither git nor url says where it comes from"


def depends_on_what_the_tree_needs(recipe, tree):
    wanted = {RECIPE_NAMES.get(spec.split("+")[0], spec.split("+")[0]): spec
              for spec in tree.needed.values() if spec not in NOT_FOR_SPACK}
    for name in sorted(wanted.keys() - recipe.names):
        yield "missing-dependency", f"{name} (cmake/packages.txt)"
    for name in sorted(recipe.names - wanted.keys() - BESIDES):
        yield "unknown-dependency", f"{name} is not in cmake/packages.txt"
    for given in recipe.depends:
        name, types = name_of(given["spec"]), set(given["types"])
        if not types <= {"build", "link", "run", "test"}:
            yield "dependency-type", f"{name}: {types}"
        if (name in BUILD_ONLY) != (types == {"build"}):
            yield "dependency-type", f"{name}: {types}"
        if (name in tree.test_only | {"python"}) != (types == {"test"}):
            yield "dependency-type", f"{name}: {types}"
    for name, spec in wanted.items():
        asked = {k for given in recipe.depends if name_of(given["spec"]) == name
                 for k in variants_of(given["spec"]) if not given["when"]}
        if not variants_of(spec).keys() <= asked and name not in ("mpi", "cxx"):
            yield "dependency-variants", f"{name}: cmake/packages.txt says {spec}"
    for name, oldest in (("cmake", tree.oldest_cmake), ("kokkos", tree.oldest_kokkos)):
        if not any(given["spec"].startswith(f"{name}@{oldest}:") for given in recipe.depends):
            yield "oldest-version", f"{name}: the tree wants {oldest}"


def names_only_variants_it_has(recipe, _):
    for kind in ("variant", "depends_on", "conflicts", "requires"):
        for given in recipe.all(kind):
            own = [given["when"]] + ([given["spec"]] if kind in ("conflicts", "requires") else [])
            for text in own:
                for name in variants_of(text).keys() - recipe.variants.keys():
                    yield "unknown-variant", f"{kind}({text}): {name}"
    for given in recipe.all("conflicts"):
        if not given["msg"]:
            yield "conflict-message", f"{given['spec']} says nothing to whom it meets"


def builds_the_module(recipe, tree):
    """The module for CUDA devices is built for the GPUs of the spec, with a Kokkos of its own."""
    args = recipe.cmake_args(cuda=True, cuda_arch=("100", "90", "80"))
    if args.get("SPILLWAY_CUDA") != "ON" or recipe.cmake_args().get("SPILLWAY_CUDA") != "OFF":
        yield "cuda-module", "SPILLWAY_CUDA must follow the variant cuda"
    if args.get("SPILLWAY_CUDA_ARCHITECTURES") != "80;90;100":
        yield "cuda-module", f"built for {args.get('SPILLWAY_CUDA_ARCHITECTURES')}, not 80;90;100"
    placed = [f"/stage/{given['place']}" for given in recipe.all("resource")
              if (given["url"], given["pinned"], given["when"]) == (*tree.kokkos_archive, "+cuda")]
    if placed != [args.get("SPILLWAY_KOKKOS_CUDA_SOURCE")]:
        yield "cuda-kokkos", "the module's Kokkos is not the resource that cmake/Kokkos.cmake pins"
    if f"cuda@{tree.oldest_cuda}:" not in {given["spec"] for given in recipe.depends
                                           if given["when"] == "+cuda"}:
        yield "oldest-cuda", f"+cuda wants cuda@{tree.oldest_cuda}:"


def knows_its_gpus(recipe, _):
    refused = {(given["spec"], given["when"]) for given in recipe.all("conflicts")}
    forwarded = {(given["spec"], given["when"]) for given in recipe.depends}
    for arch in spack_stub.CUDA_ARCHES:
        if (f"nccl+cuda cuda_arch={arch}", f"+nccl cuda_arch={arch}") not in forwarded:
            yield "forwards-cuda", f"NCCL is not built for {arch}"
        if ((f"cuda_arch={arch}", "+cuda") in refused) != (arch in spack_stub.TOO_OLD):
            yield "cuda-arch", f"cuda_arch={arch} is too old, or refused though it is not"
    if ("+cuda", "cuda_arch=none") not in refused:
        yield "cuda-arch", "+cuda without cuda_arch must conflict"
    if "CMAKE_CXX_COMPILER" in recipe.cmake_args(cuda=True, cuda_arch=("90",)):
        yield "compiler", "the compiler is Spack's to choose"


def sets_options_that_exist(recipe, tree):
    for args in (recipe.cmake_args(), recipe.cmake_args(cuda=True, cuda_arch=("90",))):
        for name in args:
            root = re.fullmatch(r"(\w+)_ROOT", name)
            if root and root[1].lower() in recipe.names:
                continue
            if name not in tree.options and not re.match(STANDARD_OPTIONS, name):
                yield "unknown-option", f"{name} is no option in CMakeLists.txt or cmake/"
    args = recipe.cmake_args()
    if args.get("SPILLWAY_NATIVE") != "OFF":
        yield "native", "SPILLWAY_NATIVE must be off: the target is the spec's"
    if args.get("BUILD_TESTING") != "OFF":
        yield "testing", "BUILD_TESTING must follow run_tests"


def tests_itself(recipe, _):
    names = [name for name in vars(recipe.package) if name.startswith("test_")]
    if not names:
        yield "smoke-test", "no method test_... for `spack test run`"
    for name in names:
        if not getattr(recipe.package, name).__doc__:
            yield "smoke-test", f"{name} has no docstring, which Spack prints"
    if "check" not in vars(recipe.package):
        yield "check", "no `check` for `spack install --test=root`"


RULES = (about_itself, depends_on_what_the_tree_needs, names_only_variants_it_has,
         builds_the_module, knows_its_gpus, sets_options_that_exist, tests_itself)


def breaches(root, recipe_path):
    try:
        recipe, tree = Recipe(recipe_path), Tree(root)
        found = [breach for rule in RULES for breach in rule(recipe, tree)]
    except Exception as error:  # what Spack would not take either
        return [("import", f"{type(error).__name__}: {error}")]
    return list(dict.fromkeys(found))


def main():
    root = Path(sys.argv[1]).resolve()
    repository = root / "spack/spack_repo/spillway"
    found = breaches(root, repository / "packages/spillway/package.py")
    settings = dict(re.findall(r"^\s+(\w+): (\S+)$", (repository / "repo.yaml").read_text(), re.M))
    if settings != {"namespace": "spillway", "api": "v2.2"}:
        found.append(("repository", f"repo.yaml says {settings}"))
    for rule, text in found:
        print(f"package.py: {rule}: {text}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
