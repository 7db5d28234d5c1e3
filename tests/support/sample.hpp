// Says which of its many cases a test takes. An ordinary run takes a sample of them, which has a
// number: SPILLWAY_SAMPLE, 0 where nobody says one; jobs/test.sh makes it of the commit.
// SPILLWAY_SAMPLE=all takes all cases, as the long tests `..._whole` do.
#pragma once

#include <cstdint>
#include <vector>

namespace spillway::test {

bool takes_all();

// Returns seeds: `kept`, which have failed once and are always tried, and behind them `some` of
// 0 ... all - 1 that follow each other.
std::vector<unsigned> sampled_seeds(unsigned some, unsigned all,
                                    std::vector<unsigned> const& kept = {});

// Returns which of `count` things has its turn. Tests that should not all be at the same one give
// different offsets.
std::uint64_t turn_of(std::uint64_t count, std::uint64_t offset = 0);

}  // namespace spillway::test
