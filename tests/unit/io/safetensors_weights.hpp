// Weights that tests of safetensors files write and expect: tensors of every kind, whose bytes
// their names give.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "io/tensors/tensor_list.hpp"
#include "io/tensors/tensor_sink.hpp"
#include "io/tensors/tensor_source.hpp"
#include "tests/unit/io/safetensors_case.hpp"

namespace spillway::test {

class SafetensorsTest : public SafetensorsCase {
 protected:
  // All bytes of a tensor, drawn from its name.
  static std::vector<std::byte> bytes_of(TensorEntry const& entry) {
    std::seed_seq seed(entry.name.begin(), entry.name.end());
    std::mt19937 random(seed);
    std::vector<std::byte> bytes(static_cast<std::size_t>(size_bytes(entry)));
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    return bytes;
  }

  static void write_all(TensorSink& sink) {
    for (std::size_t i = 0; i < sink.tensors().size(); ++i)
      sink.write(i, 0, bytes_of(sink.tensors()[i]));
    sink.finish();
  }

  static void expect_all(TensorSource& source, TensorList const& expected) {
    ASSERT_EQ(source.tensors().size(), expected.size());
    for (auto const& entry : expected) {
      auto const number = source.tensors().find(entry.name);
      ASSERT_TRUE(number) << entry.name;
      EXPECT_EQ(source.tensors()[*number], entry);
      auto bytes = bytes_of(entry);
      std::vector<std::byte> found(bytes.size());
      source.read(*number, 0, found);
      EXPECT_EQ(found, bytes) << entry.name;
    }
  }
};

inline TensorList const kTensors({{"h.0.weight", ElementType::bf16, {3, 5}},
                                  {"h.0.\"odd\" \u00e4/name", ElementType::f32, {7}},
                                  {"mask", ElementType::boolean, {3}},
                                  {"ids", ElementType::i64, {2, 2}},
                                  {"empty", ElementType::f16, {0, 4}},
                                  {"scalar", ElementType::f64, {}},
                                  {"half", ElementType::f16, {9}}});

}  // namespace spillway::test
