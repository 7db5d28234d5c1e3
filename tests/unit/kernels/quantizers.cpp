// The bytes of quantized matrices are those of bitsandbytes, and stand for what is near.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/bf16.hpp"
#include "tests/support/quantized_bytes.hpp"
#include "tests/unit/kernels/update_reference.hpp"

namespace spillway::quantizers_test {
namespace {

using test::bytes_of;
using Elements = std::vector<float>;

std::uint64_t fnv(std::span<std::byte const> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (auto const byte : bytes)
    hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
  return hash;
}
template <class T>
std::uint64_t fnv_of(std::vector<T> const& values) {
  return fnv(std::as_bytes(std::span(values)));
}

Elements drawn(std::int64_t n) {
  Elements elements;
  for (std::int64_t i = 0; i < n; ++i)
    elements.push_back(static_cast<float>((i * 37) % 101 - 50) / 64 *
                       static_cast<float>(1 + i / 64 % 7));
  return elements;
}

Elements back(Quantized const& quantized, std::vector<std::byte> const& bytes) {
  auto const element = elements_of(quantized, bytes);
  Elements elements;
  for (std::int64_t i = 0; i < element_count(quantized.shape); ++i) elements.push_back(element(i));
  return elements;
}

// What bitsandbytes 0.50.2 makes of `drawn` with quantize_4bit (nf4, compress_statistics), and of
// that with dequantize_4bit for fp32 and for bf16.
struct Known {
  Shape shape;
  std::uint64_t codes, scales;
  std::vector<float> groups;
  float mean;
  std::uint64_t values, bf16_values;
};
Known const kKnown[] = {{{5, 77},
                         0x875e8aabbaf4b18a,
                         0x7b81781b6fa3d469,
                         {0x1.08p+1f},
                         0x1.5p+1f,
                         0xe8e8347a8e272649,
                         0xe783918504dec70c},
                        {{40, 520},
                         0xa7e7b1c05a2383d7,
                         0x6deeb55c550ec99e,
                         {0x1.2e698cp+1f, 0x1.2e698cp+1f},
                         0x1.8d9674p+1f,
                         0x9ad1e3b9f0118be2,
                         0x1f5219041272c446}};

TEST(Nf4, has_the_bytes_and_the_values_of_bitsandbytes) {
  for (auto const& known : kKnown) {
    Quantized const quantized{Quantization::nf4, known.shape};
    auto const n = element_count(known.shape);
    auto const at = quantized_bytes(Quantization::nf4, known.shape[0], known.shape[1]);
    auto const bytes = bytes_of(quantized, drawn(n));
    auto const part = [&](std::int64_t first, std::int64_t count) {
      return std::span(bytes).subspan(static_cast<std::size_t>(first),
                                      static_cast<std::size_t>(count));
    };
    EXPECT_EQ(fnv(part(0, at.scales)), known.codes);
    EXPECT_EQ(fnv(part(at.scales, div_ceil(n, kNf4Block))), known.scales);
    auto const floats = reinterpret_cast<float const*>(bytes.data());
    for (std::size_t i = 0; i < known.groups.size(); ++i)
      EXPECT_EQ(floats[at.group_scales / 4 + static_cast<std::int64_t>(i)], known.groups[i]);
    EXPECT_EQ(floats[at.mean / 4], known.mean);
    auto const values = back(quantized, bytes);
    EXPECT_EQ(fnv_of(values), known.values);
    std::vector<bf16> rounded;
    for (float const value : values) rounded.push_back(to_bf16(value));
    EXPECT_EQ(fnv_of(rounded), known.bf16_values);
  }
}

TEST(Nf4, scales_have_the_numbers_of_the_dynamic_map) {
  auto const expected = test::dynamic_map(true);
  auto const& values = nf4_scale_values();
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], 5e-7 * std::abs(expected[i]));
  EXPECT_EQ(fnv(std::as_bytes(std::span(values))), 0xd677f22a96665bc4);
}

// What bitsandbytes makes of `drawn` with int8_vectorwise_quant and int8_vectorwise_dequant.
TEST(Int8, has_the_bytes_and_the_values_of_bitsandbytes) {
  Quantized const quantized{Quantization::int8, {40, 520}};
  auto const bytes = bytes_of(quantized, drawn(40 * 520));
  EXPECT_EQ(fnv(std::span(bytes).first(40 * 520)), 0xc68dc6b7a1663f89);
  EXPECT_EQ(fnv(std::span(bytes).subspan(40 * 520)), 0x20650a7f663124c1);
  EXPECT_EQ(fnv_of(back(quantized, bytes)), 0xd8cff11459909cf1);
}

TEST(Quantizers, give_the_same_bytes_in_pieces_of_any_size) {
  for (auto const form : {Quantization::int8, Quantization::nf4}) {
    Quantized const quantized{form, {7, 93}};
    auto const elements = drawn(7 * 93);
    auto const expected = bytes_of(quantized, elements, elements.size());
    for (std::size_t const piece : {1, 2, 63, 64, 65, 93, 200})
      EXPECT_EQ(bytes_of(quantized, elements, piece), expected) << piece;
  }
}

TEST(Quantizers, turn_a_matrix_over) {
  std::int64_t const rows = 6, columns = 70;  // of nn.Linear
  auto const elements = drawn(rows * columns);
  Elements turned(elements.size());
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      turned[static_cast<std::size_t>(j * rows + i)] =
          elements[static_cast<std::size_t>(i * columns + j)];
  for (auto const form : {Quantization::int8, Quantization::nf4}) {
    Quantized const as_files_have_it{form, {columns, rows}, true}, as_it_is{form, {rows, columns}};
    auto const bytes = bytes_of(as_files_have_it, turned);
    EXPECT_EQ(bytes, bytes_of(as_it_is, elements));
    auto const one = back(as_files_have_it, bytes), other = back(as_it_is, bytes);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j)
        EXPECT_EQ(one[j * rows + i], other[i * columns + j]);
  }
}

TEST(Quantizers, leave_elements_near_to_what_they_were) {
  auto const elements = drawn(9 * 150);
  auto const expect_near = [&](Quantization form, double share_of_top) {
    Quantized const quantized{form, {9, 150}};
    auto const values = back(quantized, bytes_of(quantized, elements));
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(values[i], elements[i], share_of_top * 7 * 50 / 64) << i;
  };
  expect_near(Quantization::int8, 0.5 / 127 + 1e-6);
  expect_near(Quantization::nf4, 0.16);
}

TEST(Quantizers, keep_zeros) {
  for (auto const form : {Quantization::int8, Quantization::nf4}) {
    Quantized const quantized{form, {3, 65}};
    for (float const value : back(quantized, bytes_of(quantized, Elements(3 * 65))))
      EXPECT_EQ(value, 0);
  }
}

}  // namespace
}  // namespace spillway::quantizers_test
