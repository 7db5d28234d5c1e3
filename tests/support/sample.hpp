// These functions say which of its many cases a test runs. An ordinary run takes a sample of them,
// whose number is SPILLWAY_SAMPLE, or 0 if it is not set; jobs/test.sh derives it from the commit.
// SPILLWAY_SAMPLE=all takes all cases, as the long tests `..._whole` do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spillway::test {

bool takes_all();

// Returns the seeds `kept`, which have failed once and are always tried, and behind them `some`
// consecutive seeds of 0 ... all - 1, which the sample picks.
std::vector<unsigned> sampled_seeds(unsigned some, unsigned all,
                                    std::vector<unsigned> const& kept = {});

// Returns which of `count` things this sample takes. Tests that should not all take the same one
// pass different offsets.
std::uint64_t turn_of(std::uint64_t count, std::uint64_t offset = 0);

// Returns whether the k-th of n, from 0, has its turn in this sample, where `text` is "k/n".
// Returns nothing if it is another text.
std::optional<bool> is_turn(std::string const& text);

}  // namespace spillway::test
