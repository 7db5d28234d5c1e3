// How fast the interpreter of PTX runs an element-wise kernel of training: gelu of bf16, with its
// 96 instructions an element as nvcc makes them of our source.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <ctime>
#include <span>
#include <vector>

#include "tests/support/ptx/launch.hpp"
#include "tests/support/ptx/parse.hpp"

namespace spillway::test::ptx {
namespace {

constexpr char const* kGelu = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry gelu(.param .u64 to, .param .u64 from, .param .u64 count)
{
.reg .pred %p<23>; .reg .f32 %f<175>; .reg .b32 %r<65>; .reg .b64 %rd<48>;
ld.param.u64 %rd1, [to]; ld.param.u64 %rd2, [from]; ld.param.u64 %rd9, [count];
cvta.to.global.u64 %rd5, %rd2; cvta.to.global.u64 %rd6, %rd1;
mov.u32 %r1, %ntid.x; mov.u32 %r4, %ctaid.x; mov.u32 %r3, %tid.x; cvt.u64.u32 %rd30, %r3;
mul.wide.u32 %rd31, %r1, %r4; add.s64 %rd43, %rd31, %rd30;
setp.ge.s64 %p1, %rd43, %rd9; @%p1 bra END;
shl.b64 %rd38, %rd43, 1; add.s64 %rd39, %rd5, %rd38;
ld.global.u16 %r5, [%rd39]; shl.b32 %r6, %r5, 16; mov.b32 %f1, %r6; abs.f32 %f2, %f1;
min.f32 %f3, %f2, 0f41A00000; mul.rn.f32 %f4, %f3, %f3; neg.f32 %f5, %f4;
fma.rn.f32 %f6, %f3, %f3, %f5; mul.rn.f32 %f7, %f6, 0f3F000000; mov.f32 %f8, 0f3F000000;
mov.f32 %f9, 0f3F800000; sub.rn.f32 %f10, %f9, %f7; mul.rn.f32 %f11, %f4, 0fBF000000;
mov.b32 %r7, %f11; min.s32 %r8, %r7, 1118961664; setp.lt.u32 %p7, %r8, -1026555904;
mov.b32 %f12, %r8; selp.f32 %f13, %f12, 0fC2D00000, %p7; mov.f32 %f14, 0f4B400000;
mov.f32 %f15, 0f3FB8AA3B; fma.rn.f32 %f16, %f13, %f15, %f14; add.rn.f32 %f17, %f16, 0fCB400000;
mov.f32 %f18, 0fBF318000; fma.rn.f32 %f19, %f17, %f18, %f13; mov.f32 %f20, 0f395E8083;
fma.rn.f32 %f21, %f17, %f20, %f19; mov.f32 %f22, 0f3AB743CE; mov.f32 %f23, 0f39506967;
fma.rn.f32 %f24, %f23, %f21, %f22; mov.f32 %f25, 0f3C088908; fma.rn.f32 %f26, %f24, %f21, %f25;
mov.f32 %f27, 0f3D2AA9C1; fma.rn.f32 %f28, %f26, %f21, %f27; mov.f32 %f29, 0f3E2AAAAA;
fma.rn.f32 %f30, %f28, %f21, %f29; fma.rn.f32 %f31, %f30, %f21, %f8; mul.rn.f32 %f32, %f21, %f31;
fma.rn.f32 %f33, %f32, %f21, %f21; add.rn.f32 %f34, %f33, 0f3F800000; mov.b32 %r9, %f16;
add.s32 %r10, %r9, -1262485504; shr.s32 %r11, %r10, 1; shl.b32 %r12, %r11, 23;
add.s32 %r13, %r12, 1065353216; mov.b32 %f35, %r13; mul.rn.f32 %f36, %f34, %f35;
sub.s32 %r14, %r10, %r11; shl.b32 %r15, %r14, 23; add.s32 %r16, %r15, 1065353216;
mov.b32 %f37, %r16; mul.rn.f32 %f38, %f36, %f37; setp.num.f32 %p8, %f11, %f11;
selp.f32 %f39, %f38, %f11, %p8; mul.rn.f32 %f40, %f10, %f39; mov.f32 %f41, 0f3E8C0000;
fma.rn.f32 %f42, %f41, %f3, %f9; rcp.rn.f32 %f43, %f42; mov.f32 %f44, 0fBDF0B8D6;
mov.f32 %f45, 0f3CE6D055; fma.rn.f32 %f46, %f45, %f43, %f44; mov.f32 %f47, 0f3E156740;
fma.rn.f32 %f48, %f46, %f43, %f47; mov.f32 %f49, 0fBD490AED; fma.rn.f32 %f50, %f48, %f43, %f49;
mov.f32 %f51, 0f3DC4FFFF; fma.rn.f32 %f52, %f50, %f43, %f51; mov.f32 %f53, 0f3D9BC198;
fma.rn.f32 %f54, %f52, %f43, %f53; mov.f32 %f55, 0f3DD16165; fma.rn.f32 %f56, %f54, %f43, %f55;
mov.f32 %f57, 0f3DDF2E4A; fma.rn.f32 %f58, %f56, %f43, %f57; mov.f32 %f59, 0f3DDF6A75;
fma.rn.f32 %f60, %f58, %f43, %f59; mul.rn.f32 %f61, %f43, %f60; mul.rn.f32 %f62, %f40, %f61;
setp.gt.f32 %p9, %f1, 0f00000000; sub.rn.f32 %f63, %f9, %f62; selp.f32 %f64, %f63, %f62, %p9;
mul.rn.f32 %f65, %f64, %f1; mov.b32 %r17, %f65; shr.u32 %r18, %r17, 16; and.b32 %r19, %r18, 1;
add.s32 %r20, %r17, %r19; add.s32 %r21, %r20, 32767; shr.u32 %r22, %r21, 16;
or.b32 %r23, %r18, 64; setp.num.f32 %p10, %f65, %f65; selp.b32 %r24, %r22, %r23, %p10;
add.s64 %rd40, %rd6, %rd38; st.global.u16 [%rd40], %r24;
END: ret;
})";

constexpr unsigned kThreads = 256;
constexpr std::size_t kElements = std::size_t{1} << 20;

struct Values {
  std::vector<std::uint16_t> words = std::vector<std::uint16_t>(kElements, 0x3f80);
  std::vector<std::uint8_t> states = std::vector<std::uint8_t>(2 * kElements, kKnown);
  std::uint64_t address() const { return std::bit_cast<std::uint64_t>(words.data()); }
  Region region(char const* name) {
    return {.address = address(),
            .bytes = states.size(),
            .host = reinterpret_cast<std::byte*>(words.data()),
            .states = states.data(),
            .name = name};
  }
};

// Of processor time, which others on the machine change little.
double million_a_second(Code const& code, Memory const& memory, LaunchSettings const& settings) {
  auto const begin = std::clock();
  auto const counts = launch(code, memory, settings);
  auto const seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  return static_cast<double>(counts.thread_instructions) / seconds / 1e6;
}

double best_of_five(Code const& code, Memory const& memory, LaunchSettings const& settings) {
  double best = 0;
  for (int i = 0; i < 5; ++i) best = std::max(best, million_a_second(code, memory, settings));
  return best;
}

int bench() {
  auto const module = parse(kGelu);
  auto const code = decode(module, "gelu", nullptr);
  Memory memory;
  Values to, from;
  memory.add(to.region("to"));
  memory.add(from.region("from"));
  std::uint64_t const parameters[] = {to.address(), from.address(), kElements};
  LaunchSettings settings{.grid = {kElements / kThreads},
                          .block = {kThreads},
                          .parameters = std::as_bytes(std::span(parameters))};
  auto const all = best_of_five(code, memory, settings);
  settings.global_races = false;
  auto const without = best_of_five(code, memory, settings);
  fmt::print("M thread instructions a CPU second: {:.0f}, without global races {:.0f}\n", all,
             without);
  return 0;
}

}  // namespace
}  // namespace spillway::test::ptx

int main() {
  return spillway::test::ptx::bench();
}
