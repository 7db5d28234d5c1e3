// Where values end to be allowed: the last one that is, and the first one that is not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "config/load.hpp"
#include "config/place.hpp"
#include "config/suggest.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::config_bounds_test {
namespace {

// What stands against `overrides`, if anything does.
std::string refusal(std::vector<std::string> const& overrides) {
  return test::refused_with([&] { parse_config("{}", "in.yaml", overrides); });
}

TEST(ConfigBounds, are_allowed_themselves_where_they_are_not_open) {
  for (auto const* text :
       {"model.layers=1", "model.layers=5000", "run.steps=0", "run.steps=1000000000000",
        "model.dropout=0", "model.dropout=0.99", "memory.device=4096", "memory.device=1000PB",
        "memory.host=none", "memory.host=4KiB", "run.seed=18446744073709551615",
        "run.device=cuda:999999999999999999", "debug.fault=kill-rank:0", "run.peer_timeout=1s"})
    EXPECT_EQ(refusal({text}), "") << text;
}

TEST(ConfigBounds, refuse_what_lies_just_beyond) {
  auto const expect = [](std::string const& text, std::string const& why) {
    auto const key = text.substr(0, text.find('='));
    EXPECT_EQ(refusal({text}), fmt::format("command line: {}: {}", key, why));
  };
  expect("model.layers=5001", "5001 is out of bounds: integer, 1 to 5000");
  expect("model.dropout=0.995", "0.995 is out of bounds: number, 0 <= x <= 0.99");
  expect("optim.eps=1", "1 is out of bounds: number, 0 < x < 1");
  expect("memory.device=4095", "4095 is out of bounds: size, 4KiB to 1000PB");
  expect("memory.device=none", "expected a size below 2^63 bytes (8GiB, 1.5GB, 4096), got 'none'");
  expect("memory.host=1001PB", "1001PB is out of bounds: size, 4KiB to 1000PB; or none");
  expect("run.peer_timeout=0.5s", "give at least 1s");
  for (auto const* device : {"cuda:", "cuda:-1", "cuda:1x", "cuda:1000000000000000000", "cpu:1"})
    expect(std::string("run.device=") + device,
           fmt::format("'{}' is not one of cpu | cuda | cuda:N", device));
}

// Products of keys, one below and one above what the least of a state may take.
TEST(ConfigBounds, of_products_are_exact) {
  auto const state = [](std::int64_t layers, std::int64_t ffn) {
    return refusal({fmt::format("model.layers={}", layers), "model.hidden=262144", "model.heads=1",
                    fmt::format("model.ffn={}", ffn)});
  };
  EXPECT_EQ(state(1024, 1 << 22), "");
  EXPECT_EQ(state(1025, 1 << 22),
            "command line: model.hidden: 1025 layers with hidden = 262144 and ffn = 4194304 have a "
            "state of more than 8 PiB");
  EXPECT_NE(state(1024, (1 << 22) + 1), "");
  auto const vocab = [](std::int64_t rows) {
    return refusal({"model.layers=1", "model.hidden=1000000", "model.heads=1",
                    fmt::format("model.vocab={}", rows)});
  };
  EXPECT_EQ(vocab(1'125'899'906), "");
  EXPECT_EQ(vocab(1'125'899'907),
            "command line: model.vocab: 1125899907 rows of hidden = 1000000 have a state of more "
            "than 8 PiB");
  auto const batch = [](std::int64_t micro, std::int64_t steps = 1) {
    return refusal({"model.hidden=4096", "model.heads=1", "data.sequence=1048576",
                    "batch.sequences=2097152", fmt::format("batch.micro={}", micro),
                    fmt::format("run.steps={}", steps)});
  };
  EXPECT_EQ(batch(1 << 20), "");
  EXPECT_EQ(batch((1 << 20) + 1),
            "command line: batch.micro: a micro-batch of 1048577 x data.sequence = 1048576 rows of "
            "hidden = 4096 takes more than 8 PiB");
  EXPECT_EQ(batch(1, (1 << 22) - 1), "");
  EXPECT_EQ(batch(1, 1 << 22),
            "command line: run.steps: 4194304 steps of 2097152 sequences of 1048576 tokens are "
            "more tokens than 63 bits count");
}

TEST(ConfigBounds, of_faults_are_what_can_be_found) {
  EXPECT_EQ(refusal({"debug.fault=storage-random:3"}), "");
  EXPECT_EQ(refusal({"debug.fault=storage-read:3", "spill.checksum=false"}), "");
  EXPECT_EQ(refusal({"debug.fault=storage-random:3", "spill.checksum=false"}),
            "command line: debug.fault: storage-random:3 damages what only spill.checksum finds");
}

TEST(ConfigBounds, of_a_message_are_a_line_of_1000_bytes) {
  auto const line = [](std::string const& problem) -> std::string {
    try {
      refuse({"in.yaml:1", "key"}, problem);
    } catch (Error const& error) {
      return error.what();
    }
  };
  std::string const prefix = "in.yaml:1: key: ";
  std::string const fits(1000 - prefix.size(), 'x');
  EXPECT_EQ(line(fits), prefix + fits);
  EXPECT_EQ(line(fits + "y"), prefix + fits + " ...");
  EXPECT_EQ(line("a\nb\x7f~ \x1f"), prefix + "a b ~  ");
}

TEST(ConfigBounds, of_a_guess_grow_with_the_word) {
  std::vector<std::string> const names = {"cat", "category", "model.heads", "run.log.every",
                                          "model.attention_dropout"};
  EXPECT_EQ(nearest_name("cut", names), "cat");
  std::vector<std::string> const keys = {"run.checkpoint.every", "run.log.every"};
  EXPECT_EQ(nearest_name("log.every", keys), "run.log.every");
  EXPECT_EQ(nearest_name("cup", names), "") << "2 of 3 letters";
  EXPECT_EQ(nearest_name("cazegory", names), "category");
  EXPECT_EQ(nearest_name("kazegory", names), "category");
  EXPECT_EQ(nearest_name("kazekory", names), "") << "3 of 8 letters";
  EXPECT_EQ(nearest_name("mudel.hoads", names), "model.heads");
  EXPECT_EQ(nearest_name("mudel.hoadx", names), "model.heads") << "3 of 11 letters";
  EXPECT_EQ(nearest_name("mudxl.hoadx", names), "") << "4 of 11 letters";
  EXPECT_EQ(nearest_name("modxl.attxntixn_dropout", names), "model.attention_dropout");
  EXPECT_EQ(nearest_name("mxdxl.attxntixn_dropout", names), "") << "4 are too many for any word";
  EXPECT_EQ(nearest_name("anything.every", names), "run.log.every") << "the same in another group";
  EXPECT_EQ(nearest_name("cat", {"cet", "cit"}), "cet") << "the first of equals";
}

}  // namespace
}  // namespace spillway::config_bounds_test
