// A device is given the newest PTX that it can run.
#ifdef SPILLWAY_ZSTD
#include <zstd.h>
#endif

#include "tests/unit/cuda/ptx_case.hpp"

namespace spillway::test::cuda::cuda_ptx_fat_binary_test {
namespace {

// A module whose kernel sets a float.
std::string setting(std::string const& value) {
  return R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry set(.param .u64 to)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [to];
  cvta.to.global.u64 %rd2, %rd1;
  mov.b32 %r1, 0f)" +
         value + R"(;
  st.global.b32 [%rd2], %r1;
  ret;
}
)";
}
char const* const kOne = "3F800000";
char const* const kTwo = "40000000";

class CudaPtxFatBinary : public CudaStandIn {
 protected:
  // Returns what the module's kernel sets, or 0 if it cannot be launched.
  static float run(std::vector<FatEntry> const& entries) {
    HandMadeModule module(entries);
    DeviceGranule const device;
    TestStream const stream;
    if (launch(module.kernel("set"), 1, 1, stream, device.at()) != cudaSuccess) return 0;
    float result = 0;
    copy(&result, device.at(), sizeof result, stream);
    return result;
  }
};

TEST_F(CudaPtxFatBinary, the_newest_ptx_that_the_device_runs_is_taken) {
  EXPECT_EQ(run({{.content = setting(kOne)}}), 1);
  EXPECT_EQ(run({{.content = "machine code", .kind = 2, .architecture = 90},
                 {.content = setting(kOne), .architecture = 80},
                 {.content = setting(kTwo), .architecture = 90},
                 {.content = setting(kOne), .architecture = 86},
                 {.content = setting(kOne), .architecture = 100}}),
            2);
  expect_no_complaints();
}

// PTX is compiled for what is newer, machine code runs on later minor versions.
TEST_F(CudaPtxFatBinary, a_device_that_is_too_old_for_all_of_it_has_no_code) {
  HandMadeModule ptx({{.content = setting(kOne), .architecture = 80}}),
      machine_code({{.content = "machine code", .kind = 2, .architecture = 86}});
  auto const asked = [](HandMadeModule& module, int architecture) {
    reset({.architectures = {architecture}});
    cudaFuncAttributes attributes{};
    auto const result = cudaFuncGetAttributes(&attributes, module.kernel("set"));
    cudaGetLastError();
    return std::pair(result, attributes.binaryVersion);
  };
  EXPECT_EQ(asked(ptx, 75).first, cudaErrorNoKernelImageForDevice);
  EXPECT_EQ(asked(ptx, 80), std::pair(cudaSuccess, 80));
  EXPECT_EQ(asked(ptx, 120), std::pair(cudaSuccess, 120));
  EXPECT_EQ(asked(machine_code, 80).first, cudaErrorNoKernelImageForDevice);
  EXPECT_EQ(asked(machine_code, 90).first, cudaErrorNoKernelImageForDevice);
  expect_no_complaints();
  EXPECT_EQ(asked(machine_code, 89).first, cudaErrorInvalidPtx) << "a GPU would run it";
  reset({.architectures = {75}});
  TestStream const stream;
  EXPECT_EQ(launch(ptx.kernel("set"), 1, 1, stream, nullptr), cudaErrorNoKernelImageForDevice);
  EXPECT_TRUE(complained("kernel set: is not made for an sm_75"));
  cudaGetLastError();
}

TEST_F(CudaPtxFatBinary, one_without_is_refused) {
  EXPECT_EQ(run({{.content = "machine code", .kind = 2, .architecture = 90}}), 0);
  EXPECT_TRUE(complained("kernel set: the fat binary has no PTX"));
  EXPECT_EQ(run({{.content = "nonsense"}}), 0);
  EXPECT_TRUE(complained("kernel set: line 1"));
}

TEST_F(CudaPtxFatBinary, ptx_that_is_compressed_is_read_or_refused_by_name) {
  constexpr std::uint64_t kZstd = 0x8000;
  auto const text = setting(kTwo);
  EXPECT_EQ(run({{.content = text, .flags = 0x2000, .plain_bytes = text.size()}}), 0);
  EXPECT_TRUE(complained("the PTX is compressed, but not with zstd (flags 0x2000)"));
#ifdef SPILLWAY_ZSTD
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  EXPECT_EQ(run({{.content = packed, .flags = kZstd, .plain_bytes = text.size()}}), 2);
  packed[packed.size() / 2] ^= 1;
  packed.resize(packed.size() - 1);
  EXPECT_EQ(run({{.content = packed, .flags = kZstd, .plain_bytes = text.size()}}), 0);
  EXPECT_TRUE(complained("the PTX is compressed with zstd and damaged"));
#else
  EXPECT_EQ(run({{.content = text, .flags = kZstd, .plain_bytes = text.size()}}), 0);
  EXPECT_TRUE(complained("the PTX is compressed with zstd, which this build lacks"));
#endif
}

}  // namespace
}  // namespace spillway::test::cuda::cuda_ptx_fat_binary_test
