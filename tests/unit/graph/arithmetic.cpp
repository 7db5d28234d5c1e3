#include "graph/arithmetic.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace spillway::arithmetic_test {
namespace {

Arithmetic unusual() {
  return {.build = "1.2 \"g++\"",
          .isa = "avx512",
          .precision = "fp32",
          .gradients = "bf16",
          .moments = "bf16",
          .threads = 3,
          .ranks = 4,
          .micro = 5,
          .sequence = 6,
          .attention_tile = 7,
          .loss_chunk = 8,
          .reduction = "pairs"};
}

TEST(Arithmetic, every_field_survives_json) {
  EXPECT_EQ(arithmetic_from_json(to_json(unusual())), unusual());
}

TEST(Arithmetic, difference_names_what_changed) {
  Arithmetic const before;
  auto now = before;
  EXPECT_EQ(describe_difference(before, now), "");
  now.threads = 2;
  now.ranks = 2;
  now.isa = "avx2";
  EXPECT_EQ(describe_difference(before, now), "isa:  -> avx2, ranks: 1 -> 2, threads: 1 -> 2");
}

TEST(Arithmetic, difference_names_every_field) {
  EXPECT_EQ(
      describe_difference({}, unusual()),
      "attention_tile: 256 -> 7, build:  -> 1.2 \"g++\", gradients: fp32 -> bf16, isa:  -> "
      "avx512, loss_chunk: 512 -> 8, micro: 1 -> 5, moments: fp32 -> bf16, precision: bf16 -> "
      "fp32, ranks: 1 -> 4, reduction: last -> pairs, sequence: 0 -> 6, threads: 1 -> 3");
}

TEST(Arithmetic, damaged_text_is_damaged_data) {
  for (auto const* text : {"", "{", "{\"threads\": 1}", "{\"threads\": \"x\"}"}) {
    try {
      arithmetic_from_json(text);
      FAIL() << text;
    } catch (Error const& e) {
      EXPECT_EQ(e.status(), Status::damaged);
      EXPECT_TRUE(std::string(e.what()).starts_with("stored arithmetic cannot be read: ")) << text;
    }
  }
}

}  // namespace
}  // namespace spillway::arithmetic_test
