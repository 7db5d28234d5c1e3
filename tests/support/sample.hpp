// These functions say which of its many cases a test runs. An ordinary run takes a sample of them,
// whose number is SPILLWAY_SAMPLE, or 0 if that is not set; jobs/test.sh derives it from the
// commit. With SPILLWAY_SAMPLE=all, which ctest sets for the long tests `..._whole`, all cases run.
// SPILLWAY_SEEDS=FIRST:END has tests that draw their cases take these seeds, and no others, END not
// included. The functions throw std::invalid_argument if they need a number and find another text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spillway::test {

bool takes_all();

// Returns the seeds `kept`, which have failed once and are always tried, and then `some` seeds from
// 0 to all - 1, which the sample picks, or all of these if takes_all().
std::vector<unsigned> sampled_seeds(unsigned some, unsigned all,
                                    std::vector<unsigned> const& kept = {});

// Returns which of `count` things, numbered from 0, this sample takes. Tests that should not all
// take the same thing pass different offsets.
std::uint64_t turn_of(std::uint64_t count, std::uint64_t offset = 0);

// Returns so many of `all`, from the one whose turn it is in this sample, or all of them if
// takes_all().
template <class T>
std::vector<T> some_of(std::vector<T> const& all, std::size_t some) {
  if (takes_all()) return all;
  std::vector<T> result;
  for (std::size_t i = 0; i < std::min(some, all.size()); ++i)
    result.push_back(all[turn_of(all.size(), i)]);
  return result;
}

// Returns whether the k-th of n things, from 0, has its turn in this sample, where `text` is "k/n".
// With takes_all() each has its turn. Returns nothing if `text` has another form or k >= n.
std::optional<bool> is_turn(std::string const& text);

// SPILLWAY_SHARDS=n means that this program runs, of each n successive tests, the one whose turn it
// is in this sample, or all with takes_all(). It tells googletest so.
void take_shard();

// Runs the tests that googletest has chosen. Returns 1 if any fails, and also if there are none: if
// there are fewer tests than shards, some samples would test nothing.
int run_chosen_tests();

}  // namespace spillway::test
