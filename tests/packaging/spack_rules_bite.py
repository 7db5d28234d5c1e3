#!/usr/bin/env python3
"""spack_rules_bite.py ROOT: plants mistakes in the recipe, each of which must be reported by its
rule and no other."""
import sys
import tempfile
from pathlib import Path

from spack_rules import breaches

MISTAKES = (
    ("", 'license("Apache-2.0")', 'license("Apache-2.0")'),
    ("bases", "(CMakePackage, CudaPackage)", "(CMakePackage)"),
    ("license", 'license("Apache-2.0")', 'license("MIT")'),
    ("maintainers", 'maintainers("spillway-maintainers")', ""),
    ("versions", 'version("main", branch="main")', ""),
    ("versions", ', branch="main"', ', tag="v1"'),
    ("source", "    git = ", "    _git = "),
    ("missing-dependency", '    depends_on("xxhash@0.8:")\n', ""),
    ("missing-dependency", '    generator("ninja")\n', ""),
    ("unknown-dependency", "depends_on(\"mpi\")", 'depends_on("mpi"), depends_on("boost")'),
    ("dependency-type", '"cmake@3.25:", type="build"', '"cmake@3.25:"'),
    ("dependency-type", '"googletest", type="test"', '"googletest", type="build"'),
    ("dependency-type", '"fmt@9:"', '"fmt@9:", type="buidl"'),
    ("dependency-variants", "kokkos@4.5:4+openmp", "kokkos@4.5:4"),
    ("oldest-version", "cmake@3.25:", "cmake@3.20:"),
    ("oldest-version", "kokkos@4.5:4", "kokkos@4.2:4"),
    ("unknown-variant", 'when="+cudnn"', 'when="+cuddn"'),
    ("conflict-message", 'conflicts("+nccl", msg="not yet: collectives are MPI\'s")',
     'conflicts("+nccl")'),
    ("forwards-cuda", 'f"nccl+cuda cuda_arch={arch}"', '"nccl+cuda"'),
    ("cuda-arch", 'when="cuda_arch=none", ', ""),
    ("cuda-arch", "< 80", "< 90"),
    ("cuda-arch", "< 80", "< 70"),
    ("cuda-module", '"SPILLWAY_CUDA", "cuda"', '"SPILLWAY_CUDA", "cudnn"'),
    ("cuda-module", ", key=lambda a: int(a.rstrip(\"af\"))", ""),
    ("cuda-kokkos", "source_path, \"kokkos-for-cuda\"", "source_path, \"kokkos\""),
    ("cuda-kokkos", "4.7.00.tar.gz", "4.7.01.tar.gz"),
    ("cuda-kokkos", 'name="kokkos", when="+cuda", ', 'name="kokkos", '),
    ("oldest-cuda", "cuda@12.5:", "cuda@12:"),
    ("compiler", "args += [", 'args += [self.define("CMAKE_CXX_COMPILER", "nvcc_wrapper"),'),
    ("unknown-option", "SPILLWAY_WERROR", "SPILLWAY_WERRORS"),
    ("unknown-option", "Kokkos_ROOT", "Cocos_ROOT"),
    ("native", '"SPILLWAY_NATIVE", False', '"SPILLWAY_NATIVE", True'),
    ("testing", "self.run_tests", "True"),
    ("smoke-test",
     '"""the program starts with its libraries and says what it is made of"""', "pass"),
    ("check", "def check(", "def checks("),
    ("import", "depends_on(\"mpi\")", 'depend_on("mpi")'),
    ("import", 'depends_on("gnuplot", type="run", when=', 'depends_on("gnuplot", type="run", If='),
    ("import", 'self.define("BUILD_TESTING", self.run_tests)',
     'self.define_from_variant("BUILD_TESTING", "tests")'),
)


def main():
    root = Path(sys.argv[1]).resolve()
    sound = (root / "spack/spack_repo/spillway/packages/spillway/package.py").read_text()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        recipe = Path(folder, "a/b/c/d/e/package.py")  # as deep as the recipe takes its tree to be
        recipe.parent.mkdir(parents=True)
        for rule, old, new in MISTAKES:
            assert old in sound, f"the recipe has changed, and not this test: {old}"
            recipe.write_text(sound.replace(old, new))
            seen = {name for name, _ in breaches(root, recipe)}
            if seen != {rule} - {""}:
                print(f"planted {new!r}: expected {rule!r}, reported {seen}")
                failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
