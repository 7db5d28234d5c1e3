#include "graph/arithmetic.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::arithmetic_test {
namespace {

Arithmetic unusual() {
  return {.build = "1.2 \"g++\"",
          .isa = "avx512",
          .precision = Precision::fp32,
          .gradients = Precision::bf16,
          .moments = Precision::bf16,
          .threads = 3,
          .ranks = 4,
          .micro = 5,
          .sequence = 6,
          .attention_tile = 7,
          .loss_chunk = 8,
          .reduction = Reduction::each};
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
      "fp32, ranks: 1 -> 4, reduction: last -> each, sequence: 0 -> 6, threads: 1 -> 3");
}

ProductChoices chosen() {
  return {"a GPU, cublasLt 1.2.3", {{"3x4x5", "0 17"}, {"3x4x6", "64 18"}}};
}

TEST(Arithmetic, algorithms_of_products_survive_json) {
  auto arithmetic = unusual();
  arithmetic.products = chosen();
  EXPECT_EQ(arithmetic_from_json(to_json(arithmetic)), arithmetic);
}

// Earlier checkpoints have no such key.
TEST(Arithmetic, rows_of_an_mlp_are_told_where_there_are_some) {
  auto arithmetic = unusual();
  EXPECT_EQ(to_json(arithmetic).find("mlp_chunk"), std::string::npos);
  arithmetic.mlp_chunk = 4096;
  EXPECT_EQ(arithmetic_from_json(to_json(arithmetic)), arithmetic);
  EXPECT_EQ(describe_difference(unusual(), arithmetic), "mlp_chunk: 0 -> 4096");
}

TEST(Arithmetic, difference_counts_products_that_have_other_algorithms) {
  Arithmetic before, now;
  before.products = now.products = chosen();
  EXPECT_EQ(describe_difference(before, now), "");
  now.products.algorithms["3x4x5"] = "0 19";
  EXPECT_EQ(describe_difference(before, now), "products: 1 of 2 have other algorithms");
  now.ranks = 2;
  EXPECT_EQ(describe_difference(before, now),
            "ranks: 1 -> 2, products: 1 of 2 have other algorithms");
}

// A run whose validation data is new has more products; the bits of all others stay.
TEST(Arithmetic, products_that_one_run_lacks_are_no_difference) {
  Arithmetic before, now;
  before.products = now.products = chosen();
  now.products.algorithms["7x8x9"] = "0 20";
  now.products.algorithms.erase("3x4x6");
  EXPECT_EQ(describe_difference(before, now), "");
}

TEST(Arithmetic, difference_names_the_makers_of_algorithms) {
  Arithmetic before, now;
  now.products = chosen();
  EXPECT_EQ(describe_difference(before, now), "products: no library -> a GPU, cublasLt 1.2.3");
  before.products = chosen();
  before.products.made_by = "another GPU, cublasLt 1.2.3";
  EXPECT_EQ(describe_difference(before, now),
            "products: another GPU, cublasLt 1.2.3 -> a GPU, cublasLt 1.2.3");
}

TEST(Arithmetic, damaged_algorithms_are_damaged_data) {
  auto text = to_json(unusual());
  text.pop_back();
  for (auto const* const products :
       {"3", "{}", R"({"made_by":1,"algorithms":{}})", R"({"made_by":"","algorithms":[1]})",
        R"({"made_by":"","algorithms":{"a":1}})"}) {
    auto const damaged = text + R"(,"products":)" + products + "}";
    EXPECT_TRUE(test::refused_with([&] { arithmetic_from_json(damaged); }, Status::damaged)
                    .starts_with("stored arithmetic cannot be read: "))
        << products;
  }
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

// A word of another version is none that this one computes with.
TEST(Arithmetic, unknown_words_are_damaged_data) {
  auto const refusal = [](std::string const& word, std::string const& unknown) {
    auto text = to_json(unusual());
    text.replace(text.find(word), word.size(), unknown);
    return test::refused_with([&] { arithmetic_from_json(text); }, Status::damaged);
  };
  for (auto const* const word :
       {R"("precision":"fp32")", R"("gradients":"bf16")", R"("moments":"bf16")"}) {
    auto const key = std::string(word).substr(0, std::string(word).find(':'));
    EXPECT_EQ(refusal(word, key + R"(:"fp16")"),
              R"(stored arithmetic cannot be read: "fp16" is none of bf16, fp32)");
  }
  EXPECT_EQ(refusal(R"("each")", R"("auto")"),
            R"(stored arithmetic cannot be read: "auto" is none of last, each)");
  EXPECT_EQ(refusal(R"("avx512")", R"("of another machine")"), "");
}

TEST(Arithmetic, its_text_is_that_of_earlier_checkpoints) {
  EXPECT_EQ(to_json(unusual()),
            R"({"attention_tile":7,"build":"1.2 \"g++\"","gradients":"bf16","isa":"avx512",)"
            R"("loss_chunk":8,"micro":5,"moments":"bf16","precision":"fp32","ranks":4,)"
            R"("reduction":"each","sequence":6,"threads":3})");
}

}  // namespace
}  // namespace spillway::arithmetic_test
