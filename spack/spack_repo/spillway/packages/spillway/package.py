# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Spillway(CMakePackage, CudaPackage):
    """Trains transformers whose training state does not fit in device memory: a step is compiled
    into a verified list of operations, transfers and collectives over device memory, host memory
    and NVMe, and exactly that is run."""

    # What is built is the tree that this recipe lies in, as it was committed.
    git = Path(__file__).resolve().parents[5].as_uri()

    maintainers("spillway-maintainers")
    license("Apache-2.0")

    version("main", branch="main")

    variant("gnuplot", default=False, description="Draw the charts of `spillway rok`")
    variant("cudnn", default=False, when="+cuda", description="Attention by cuDNN")
    variant("nccl", default=False, when="+cuda", description="Collectives on devices by NCCL")

    conflicts("+cuda", when="cuda_arch=none", msg="say for which GPU: cuda_arch=90")
    for arch in CudaPackage.cuda_arch_values:
        if int(arch.rstrip("af")) < 80:
            conflicts(f"cuda_arch={arch}", when="+cuda", msg="kernels want cuda_arch=80 or newer")
    conflicts("+cudnn", msg="not yet: attention is our own")
    conflicts("+nccl", msg="not yet: collectives are MPI's")

    generator("ninja")
    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("hdf5@1.10:")
    # Matrix products are described as oneDNN 2 wants them; later ones dropped that.
    depends_on("onednn@2.6:2 cpu_runtime=omp")
    depends_on("yaml-cpp@0.7:")
    depends_on("cli11@2.3:")
    depends_on("nlohmann-json@3.11:")
    depends_on("fmt@9:")
    depends_on("spdlog@1.10:")
    depends_on("xxhash@0.8:")
    depends_on("liburing@2.3:")
    depends_on("pcre2@10.40:")
    depends_on("utf8proc@2.6:")
    depends_on("sentencepiece@0.1.91:")
    depends_on("zlib-api")
    depends_on("zstd@1.5:")
    depends_on("kokkos@4.5:4+openmp")
    depends_on("gnuplot", type="run", when="+gnuplot")
    depends_on("googletest", type="test")
    depends_on("benchmark", type="test")
    depends_on("python@3.11:", type="test")

    depends_on("cuda@12.5:", when="+cuda")
    # The module for CUDA devices has a static Kokkos of its own, beside the program's.
    resource(name="kokkos", when="+cuda", placement="kokkos-for-cuda",
             url="https://github.com/kokkos/kokkos/releases/download/4.7.00/kokkos-4.7.00.tar.gz",
             sha256="126b774a24dde8c1085c4aede7564c0b7492d6a07d85380f2b387a712cea1ff5")
    # NCCL is built for the GPUs that spillway is built for.
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"nccl+cuda cuda_arch={arch}", when=f"+nccl cuda_arch={arch}")
    depends_on("cudnn", when="+cudnn")

    def cmake_args(self):
        args = [
            self.define("Kokkos_ROOT", self["kokkos"].prefix),
            self.define("BUILD_TESTING", self.run_tests),
            # The compiler wrapper tunes for the spec's target.
            self.define("SPILLWAY_NATIVE", False),
            self.define("SPILLWAY_WERROR", False),
            self.define_from_variant("SPILLWAY_CUDA", "cuda"),
        ]
        if self.spec.satisfies("+cuda"):
            archs = sorted(self.spec.variants["cuda_arch"].value, key=lambda a: int(a.rstrip("af")))
            args += [
                self.define("SPILLWAY_CUDA_ARCHITECTURES", archs),
                self.define("SPILLWAY_KOKKOS_CUDA_SOURCE",
                            join_path(self.stage.source_path, "kokkos-for-cuda")),
            ]
        return args

    def check(self):
        """Tests of the build, without those that take long, and without ours of installs."""
        with working_dir(self.build_directory):
            ctest("--output-on-failure", "--label-exclude", "^(long|install)$")

    def test_plan(self):
        """a GPU machine that is not here gets a plan that fits"""
        inputs = join_path(self.prefix.share, "spillway", "input")
        program = Executable(join_path(self.prefix.bin, "spillway"))
        machine = join_path(inputs, "machines", "h100.yaml")
        said = program("plan", join_path(inputs, "gpt.yaml"), "model.vocab=50257",
                       "--machine", machine, output=str.split, error=str.split)
        check_outputs(["Fits with"], said)

    def test_version(self):
        """the program starts with its libraries and says what it is made of"""
        program = Executable(join_path(self.prefix.bin, "spillway"))
        check_outputs(["spillway", "Kokkos"], program("--version", output=str.split))
