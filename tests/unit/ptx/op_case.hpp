// Runs one instruction over many operands, to compare it with what C++ computes.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>

#include "tests/unit/ptx/ptx_case.hpp"

namespace spillway::test::ptx {

using Operands = std::array<std::uint64_t, 3>;  // has each operand's bits, from bit 0 on

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t result = 0;
  std::memcpy(&result, &value, sizeof value);
  return result;
}
template <class T>
T from_bits(std::uint64_t bits) {
  T result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

// Returns the name of a register, such as `%x4_0`, whose width is in bytes, or 'p' for a predicate.
inline std::string register_name(char width, unsigned n) {
  return fmt::format("%x{}_{}", width, n);
}

// Writes a kernel that loads operands of 8 bytes each, runs `opcode result, operands` and stores
// the result. `widths` begins with that of the result: "844" for mul.wide.u32. `tail` follows the
// operands.
inline std::string op_text(std::string const& opcode, std::string const& widths,
                           std::string const& tail) {
  std::string body = "mul.wide.u32 %d0, %r31, 8;\n";
  for (char const width : {'2', '4', '8'})
    body += fmt::format(".reg .b{} %x{}_<8>;\n", (width - '0') * 8, width);
  body += ".reg .pred %xp_<8>;\n";
  auto operation = opcode + " " + register_name(widths[0], 0);
  for (unsigned i = 1; i < widths.size(); ++i) {
    auto const name = register_name(widths[i], i);
    body += fmt::format("add.u64 %d1, %p{}, %d0;\n", i);
    if (widths[i] == 'p')
      body += fmt::format("ld.global.u32 %r0, [%d1]; setp.ne.u32 {}, %r0, 0;\n", name);
    else
      body += fmt::format("ld.global.b{} {}, [%d1];\n", (widths[i] - '0') * 8, name);
    operation += ", " + name;
  }
  body += operation + tail + ";\nadd.u64 %d1, %p0, %d0;\n";
  auto const result = register_name(widths[0], 0);
  if (widths[0] == 'p')
    body += fmt::format("selp.u32 %r0, 1, 0, {}; st.global.u32 [%d1], %r0;\n", result);
  else
    body += fmt::format("st.global.b{} [%d1], {};\n", (widths[0] - '0') * 8, result);
  return kernel_text(4, body + "ret;");
}

inline std::vector<std::uint64_t> run_op(std::string const& opcode, std::string const& widths,
                                         std::vector<Operands> operands,
                                         std::string const& tail = "") {
  auto const count = operands.size();
  operands.resize((count + 31) / 32 * 32, operands.back());
  Memory memory;
  std::vector<std::unique_ptr<Buffer<std::uint64_t>>> buffers;
  std::vector<std::uint64_t> addresses;
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<std::uint64_t> values(operands.size());
    for (std::size_t k = 0; k < values.size() && i > 0; ++k) values[k] = operands[k][i - 1];
    buffers.push_back(std::make_unique<Buffer<std::uint64_t>>(memory, "operands", values));
    addresses.push_back(buffers.back()->address());
  }
  auto const blocks = static_cast<unsigned>(operands.size() / 32);
  run(op_text(opcode, widths, tail), memory, {.grid = {blocks}, .block = {32}}, addresses);
  auto result = buffers[0]->values();
  result.resize(count);
  return result;
}

// Returns numbers at which something changes for some type: small ones, large ones, and patterns of
// floats.
inline std::vector<std::uint64_t> edges(unsigned bytes) {
  auto const bits = 8 * bytes;
  std::vector<std::uint64_t> result = {0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 100, 255, 256};
  for (auto const base : {std::uint64_t{1} << (bits - 1), std::uint64_t{0}})
    for (std::uint64_t i = 1; i < 4; ++i) result.insert(result.end(), {base - i, base + i, base});
  if (bytes == 8)
    for (double const x :
         {0.0, 0.5, 1.0, 1.5, 2.5, 0x1p-1074, 0x1p-1022, 0x1.fffffep127, 1e308, 3.7e9})
      result.insert(result.end(), {bits_of(x), bits_of(-x)});
  if (bytes == 4)
    for (float const x :
         {0.0f, 0.5f, 1.0f, 1.5f, 2.5f, 0x1p-149f, 0x1p-126f, 0x1p127f, 65519.0f, 3.7e9f})
      result.insert(result.end(), {bits_of(x), bits_of(-x)});
  if (bytes == 2)
    result.insert(result.end(), {0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x3f80, 0xbf80, 0x7f80});
  if (bytes == 8)
    result.insert(result.end(), {0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000});
  if (bytes == 4) result.insert(result.end(), {0x7f800000, 0xff800000, 0x7fc00000, 0x7fffffff});
  return result;
}

// Returns so many operands: edges in all places, then random bits.
inline std::vector<Operands> operands_for(std::string const& widths, std::size_t count = 2048) {
  std::mt19937_64 random(widths.size() * 1000 + widths[0]);
  std::vector<Operands> result(count);
  for (auto& operands : result)
    for (std::size_t i = 1; i < widths.size(); ++i) {
      auto const bytes = widths[i] == 'p' ? 4u : static_cast<unsigned>(widths[i] - '0');
      auto const all = edges(bytes);
      auto value = random() % 3 == 0 ? random() >> random() % 64 : all[random() % all.size()];
      if (widths[i] == 'p') value %= 2;
      operands[i - 1] = bytes == 8 ? value : value & ((std::uint64_t{1} << (8 * bytes)) - 1);
    }
  return result;
}

// Returns whether two results are equal. NaN of f64 may have any bits; smaller types have one NaN.
template <class T>
bool same(T a, T b) {
  if constexpr (std::is_same_v<T, double>)
    if (a != a && b != b) return true;
  return bits_of(a) == bits_of(b);
}
inline float canonical(float x) {
  return x == x ? x : std::bit_cast<float>(0x7fffffffu);
}
// Makes a subnormal number a zero of its sign, as .ftz does.
inline float without_subnormal(float x) {
  return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
}

template <class Result, class... From, std::size_t... n>
Result call(Result (*function)(From...), Operands const& operands,
            std::index_sequence<n...> /*n*/) {
  return function(from_bits<From>(operands[n])...);
}

// Expects that the instruction and the function give the same for the same operands.
template <class Result, class... From>
void expect_op(std::string const& opcode, std::type_identity_t<Result (*)(From...)> function,
               std::string const& tail = "") {
  std::string const widths = (std::to_string(sizeof(Result)) + ... + std::to_string(sizeof(From)));
  auto const operands = operands_for(widths);
  auto const results = run_op(opcode, widths, operands, tail);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    auto const expected = call(function, operands[i], std::index_sequence_for<From...>());
    auto const found = from_bits<Result>(results[i]);
    ASSERT_TRUE(same(found, expected))
        << opcode
        << fmt::format(" of {:#x} {:#x} {:#x} gives {:#x}, not {:#x}", operands[i][0],
                       operands[i][1], operands[i][2], bits_of(found), bits_of(expected));
  }
}

}  // namespace spillway::test::ptx
