#include <gtest/gtest.h>

#include "base/error.hpp"
#include "state/run_state.hpp"

namespace spillway::train_run_state_test {
namespace {

RunState sample() {
  Arithmetic arithmetic;
  arithmetic.build = "1.2, gcc \"13\"";
  arithmetic.threads = 3;
  arithmetic.ranks = 2;
  return {.step = 12,
          .updates = 11,
          .samples = 1'000'000'000'007,
          .tokens = 3'000'000'000'019,
          .seed = 0xffff'ffff'ffff'fff1,
          .vocab = 257,
          .tokenizer = "byte",
          .arithmetic = arithmetic,
          .config = "run: {seed: 1}\n# two lines\n"};
}

void expect_damaged(std::map<std::string, std::string> const& texts, std::string const& name) {
  try {
    run_state(texts, "runs/a/step-3");
    FAIL() << "accepted without a sound `" << name << "`";
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::damaged) << error.what();
    EXPECT_NE(std::string(error.what()).find("runs/a/step-3"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
  }
}

TEST(RunState, comes_back_from_its_texts_unchanged) {
  EXPECT_EQ(run_state(to_texts(sample()), "here"), sample());
  RunState first;
  first.vocab = 1;
  EXPECT_EQ(run_state(to_texts(first), "here"), first);
  first.data = R"({"window":64})";  // which older checkpoints do not have
  EXPECT_EQ(run_state(to_texts(first), "here"), first);
}

TEST(RunState, says_which_entry_a_damaged_checkpoint_lacks) {
  for (auto const& [name, text] : to_texts(sample())) {
    auto texts = to_texts(sample());
    texts.erase(name);
    expect_damaged(texts, name);
  }
}

TEST(RunState, refuses_numbers_that_are_none) {
  for (auto const* name : {"step", "samples", "tokens", "seed", "vocab"}) {
    for (auto const* text : {"", "x", "12x", "1.5", " 1", "99999999999999999999"}) {
      auto texts = to_texts(sample());
      texts[name] = text;
      expect_damaged(texts, name);
    }
  }
}

TEST(RunState, refuses_numbers_that_no_run_reaches) {
  std::pair<char const*, char const*> const cases[] = {
      {"step", "-5"},    {"updates", "-1"}, {"updates", "13"},
      {"samples", "-1"}, {"tokens", "-1"},  {"samples", "9223372036854775807"},
      {"vocab", "0"},    {"vocab", "-1"},   {"vocab", "4294967296"},
      {"seed", "-1"}};
  for (auto const& [name, text] : cases) {
    auto texts = to_texts(sample());
    texts[name] = text;
    expect_damaged(texts, name);
  }
}

TEST(RunState, refuses_an_arithmetic_that_cannot_be_read) {
  for (auto const* text : {"", "{", "[]", "{}", R"({"threads": "two"})"}) {
    auto texts = to_texts(sample());
    texts["arithmetic"] = text;
    expect_damaged(texts, "arithmetic");
  }
}

}  // namespace
}  // namespace spillway::train_run_state_test
