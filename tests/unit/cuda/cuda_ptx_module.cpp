// Modules that need CUDA's libraries call the stand-in.
#include <dlfcn.h>
#include <link.h>

#include "tests/unit/cuda/ptx_case.hpp"

namespace spillway::test::cuda::cuda_ptx_module_test {
namespace {

using CudaPtxModule = CudaPtx;

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> result;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        static_cast<std::vector<std::string>*>(to)->emplace_back(info->dlpi_name);
        return 0;
      },
      &result);
  return result;
}

TEST_F(CudaPtxModule, that_is_opened_runs_on_the_stand_in) {
  auto* const module = ::dlopen(SPILLWAY_OPENED_MODULE, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(module, nullptr) << ::dlerror();
  auto* const add_one =
      reinterpret_cast<cudaError_t (*)(float*, unsigned)>(::dlsym(module, "add_one"));
  ASSERT_NE(add_one, nullptr) << ::dlerror();
  set(x(), all(2));
  wait_for(stream);
  EXPECT_EQ(add_one(x(), n), cudaSuccess);
  EXPECT_EQ(get(x()), all(3));
  EXPECT_EQ(calls().at("cudaLaunchKernel"), 1);
  ::dlclose(module);
  expect_no_complaints();
}

TEST_F(CudaPtxModule, finds_no_library_of_cuda_but_those_without_content) {
  auto* const module = ::dlopen(SPILLWAY_OPENED_MODULE, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(module, nullptr) << ::dlerror();
  for (auto const& library : loaded_libraries()) {
    bool const is_of_cuda = library.find("/libcu") != library.npos;
    EXPECT_EQ(is_of_cuda, library.find("/instead/") != library.npos) << library;
  }
  ::dlclose(module);
}

}  // namespace
}  // namespace spillway::test::cuda::cuda_ptx_module_test
