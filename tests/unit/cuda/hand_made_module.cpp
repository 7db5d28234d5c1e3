#include "tests/unit/cuda/hand_made_module.hpp"

#include <cstring>

namespace spillway::test::cuda {
namespace {

struct Header {
  std::uint32_t magic = 0xba55ed50;
  std::uint16_t version = 1, header_bytes = sizeof(Header);
  std::uint64_t bytes = 0;
};
struct Head {
  std::uint16_t kind = 1, version = 0x101;
  std::uint32_t head_bytes = sizeof(Head);
  std::uint64_t bytes = 0;
  std::uint32_t compressed_bytes = 0, unused = 0;
  std::uint16_t minor = 0, major = 8;
  std::uint32_t architecture = 80, name_offset = 0, name_bytes = 0;
  std::uint64_t flags = 0, more = 0, plain_bytes = 0;
};

template <class T>
void append(std::string& to, T const& value) {
  to.append(reinterpret_cast<char const*>(&value), sizeof value);
}

// Each content is padded to 8 bytes, as nvcc does.
std::string container_of(std::vector<FatEntry> const& entries) {
  std::string all;
  for (auto const& entry : entries) {
    auto const padded = (entry.content.size() + 8) / 8 * 8;
    append(all,
           Head{.kind = entry.kind,
                .bytes = padded,
                .compressed_bytes =
                    entry.plain_bytes == 0 ? 0 : static_cast<std::uint32_t>(entry.content.size()),
                .architecture = entry.architecture,
                .flags = entry.flags,
                .plain_bytes = entry.plain_bytes});
    all += entry.content;
    all.append(padded - entry.content.size(), '\0');
  }
  std::string result;
  append(result, Header{.bytes = all.size()});
  return result + all;
}

}  // namespace

HandMadeModule::HandMadeModule(std::vector<FatEntry> const& entries)
    : m_container(container_of(entries)) {
  m_wrapper.container = m_container.data();
  m_handle = __cudaRegisterFatBinary(&m_wrapper);
  __cudaInitModule(m_handle);
  __cudaRegisterFatBinaryEnd(m_handle);
}

void const* HandMadeModule::kernel(std::string const& name) {
  auto const [at, is_new] = m_names.emplace(name, '\0');
  if (is_new)
    __cudaRegisterFunction(m_handle, &at->second, nullptr, name.c_str(), -1, nullptr, nullptr,
                           nullptr, nullptr, nullptr);
  return &at->second;
}

void const* HandMadeModule::variable(std::string const& name, std::size_t bytes) {
  auto const [at, is_new] = m_names.emplace(name, '\0');
  if (is_new) __cudaRegisterVar(m_handle, &at->second, nullptr, name.c_str(), 0, bytes, 0, 0);
  return &at->second;
}

char const* const kPtx = R"(
.version 8.0
.target sm_80
.address_size 64

.const .align 4 .f32 factor;
.global .align 4 .u32 launches;
.extern .shared .align 16 .b8 buffer[];

// to[i] = from[i] + value for i < n
.visible .entry add(.param .u64 to, .param .u64 from, .param .u32 n, .param .f32 value)
{
  .reg .pred %p<2>;
  .reg .f32 %f<4>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<8>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  ld.param.u32 %r5, [n];
  setp.ge.u32 %p1, %r4, %r5;
  @%p1 bra END;
  ld.param.u64 %rd1, [to];
  ld.param.u64 %rd2, [from];
  ld.param.f32 %f1, [value];
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mul.wide.u32 %rd5, %r4, 4;
  add.s64 %rd6, %rd3, %rd5;
  add.s64 %rd7, %rd4, %rd5;
  ld.global.f32 %f2, [%rd7];
  add.rn.f32 %f3, %f2, %f1;
  st.global.f32 [%rd6], %f3;
END:
  ret;
}

// to[0] = factor, and one launch more, by one thread
.visible .entry count(.param .u64 to)
{
  .reg .f32 %f<2>;
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [to];
  cvta.to.global.u64 %rd2, %rd1;
  ld.const.f32 %f1, [factor];
  st.global.f32 [%rd2], %f1;
  ld.global.u32 %r1, [launches];
  add.s32 %r2, %r1, 1;
  st.global.u32 [launches], %r2;
  ret;
}

// to[i] = value of the opposite thread, by way of shared memory
.visible .entry reverse(.param .u64 to, .param .u64 from)
{
  .reg .f32 %f<3>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [to];
  ld.param.u64 %rd2, [from];
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd5, %r1, 4;
  add.s64 %rd6, %rd4, %rd5;
  ld.global.f32 %f1, [%rd6];
  mov.u32 %r2, buffer;
  shl.b32 %r3, %r1, 2;
  add.s32 %r4, %r2, %r3;
  st.shared.f32 [%r4], %f1;
  bar.sync 0;
  mov.u32 %r5, %ntid.x;
  sub.s32 %r6, %r5, %r1;
  shl.b32 %r7, %r6, 2;
  add.s32 %r4, %r2, %r7;
  ld.shared.f32 %f2, [%r4+-4];
  add.s64 %rd7, %rd3, %rd5;
  st.global.f32 [%rd7], %f2;
  ret;
}

// what the interpreter does not offer
.visible .entry strange()
{
  .reg .f32 %f<2>;
  slct.f32.f32 %f1, 0f00000000, 0f3F800000, 0f00000000;
  ret;
}
)";

}  // namespace spillway::test::cuda
