#include "tests/support/sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace spillway::test {
namespace {

char const* asked() {
  auto const* const text = std::getenv("SPILLWAY_SAMPLE");
  return text != nullptr ? text : "0";
}

std::uint64_t read_sample() {
  std::string_view const text = asked();
  std::uint64_t number = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool const is_number = error == std::errc{} && end == text.data() + text.size();
  if (is_number || takes_all()) return number;
  throw std::invalid_argument("SPILLWAY_SAMPLE: expected a number or all, got '" +
                              std::string(text) + "'");
}

std::uint64_t sample() {
  static auto const number = read_sample();
  return number;
}

// Returns the seeds from the first to before the second number of "FIRST:END".
std::vector<unsigned> seeds_of(char const* range) {
  unsigned first = 0, end = 0;
  char more = 0;
  if (std::sscanf(range, "%u:%u%c", &first, &end, &more) != 2 || first >= end)
    throw std::invalid_argument("SPILLWAY_SEEDS: expected FIRST:END, got '" + std::string(range) +
                                "'");
  std::vector<unsigned> seeds(end - first);
  std::iota(seeds.begin(), seeds.end(), first);
  return seeds;
}

}  // namespace

bool takes_all() {
  return std::string_view(asked()) == "all";
}

std::vector<unsigned> sampled_seeds(unsigned some, unsigned all,
                                    std::vector<unsigned> const& kept) {
  if (auto const* const range = std::getenv("SPILLWAY_SEEDS")) return seeds_of(range);
  std::vector<unsigned> seeds = kept;
  auto const count = takes_all() ? all : std::min(some, all);
  for (std::uint64_t i = 0; i < count; ++i)
    seeds.push_back(static_cast<unsigned>((sample() * count + i) % all));
  return seeds;
}

std::uint64_t turn_of(std::uint64_t count, std::uint64_t offset) {
  return (sample() + offset) % count;
}

std::optional<bool> is_turn(std::string const& text) {
  int turn = 0, turns = 0;
  char more = 0;
  bool const is_pair = std::sscanf(text.c_str(), "%d/%d%c", &turn, &turns, &more) == 2;
  if (!is_pair || turn < 0 || turn >= turns) return {};
  return takes_all() ||
         turn_of(static_cast<std::uint64_t>(turns)) == static_cast<std::uint64_t>(turn);
}

void take_shard() {
  auto const* const shards = std::getenv("SPILLWAY_SHARDS");
  if (shards == nullptr || takes_all()) return;
  auto const turn = turn_of(std::stoull(shards));
  ::setenv("GTEST_TOTAL_SHARDS", shards, 1);
  ::setenv("GTEST_SHARD_INDEX", std::to_string(turn).c_str(), 1);
}

int run_chosen_tests() {
  auto const status = RUN_ALL_TESTS();
  auto const count = testing::UnitTest::GetInstance()->test_to_run_count();
  if (count == 0) std::fprintf(stderr, "no test was chosen: are there more shards than tests?\n");
  return count == 0 ? 1 : status;
}

}  // namespace spillway::test
