// Which devices run what the module's kernels are compiled for.
#include "base/error.hpp"
#include "device/cuda/architectures.hpp"
#include "device/cuda/cuda_device.hpp"
#include "tests/unit/cuda/cuda_case.hpp"

namespace spillway::test::cuda::cuda_architectures_test {
namespace {

std::vector<int> of_all(std::string_view architectures) {
  std::vector<int> result;
  for (int const capability : {75, 80, 86, 89, 90, 100, 103, 120})
    if (has_code_for(architectures, capability)) result.push_back(capability);
  return result;
}

using Capabilities = std::vector<int>;

TEST(CudaArchitectures, with_ptx_are_for_all_that_is_newer) {
  EXPECT_EQ(of_all("80"), (Capabilities{80, 86, 89, 90, 100, 103, 120}));
  EXPECT_EQ(of_all("90-virtual"), (Capabilities{90, 100, 103, 120}));
  EXPECT_EQ(of_all("80, 90-real, 100-real"), (Capabilities{80, 86, 89, 90, 100, 103, 120}));
}

TEST(CudaArchitectures, of_machine_code_are_for_their_major_version) {
  EXPECT_EQ(of_all("80-real"), (Capabilities{80, 86, 89}));
  EXPECT_EQ(of_all("86-real, 100-real"), (Capabilities{86, 89, 100, 103}));
}

TEST(CudaArchitectures, of_one_device_or_family_are_for_no_other) {
  EXPECT_EQ(of_all("90a"), (Capabilities{90}));
  EXPECT_EQ(of_all("90a-real, 100f"), (Capabilities{90, 100, 103}));
}

TEST(CudaArchitectures, without_a_number_may_be_for_any_device) {
  EXPECT_EQ(of_all("native").size(), 8u);
  EXPECT_EQ(of_all("all-major").size(), 8u);
}

using CudaDevices = CudaStandIn;

TEST_F(CudaDevices, that_have_no_code_are_named_with_their_target) {
  reset({.devices = 2, .architectures = {75, 86}});
  EXPECT_EQ(why_no_code(0, "80, 90-real"),
            "stand-in for a GPU is an sm_75, and the module is compiled for 80, 90-real");
  EXPECT_EQ(why_no_code(1, "80, 90-real"), "");
  EXPECT_EQ(why_no_code(1, "90"),
            "stand-in for a GPU is an sm_86, and the module is compiled for 90");
  EXPECT_EQ(calls().count("cudaSetDevice"), 0u) << "which would take memory of the device";
}

TEST_F(CudaDevices, of_which_cuda_tells_nothing_are_opened_to_be_told_why) {
  plan_fault({.call = "cudaGetDeviceProperties"});
  EXPECT_EQ(why_no_code(0, "100"), "");
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

}  // namespace
}  // namespace spillway::test::cuda::cuda_architectures_test
