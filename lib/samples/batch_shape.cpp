#include "samples/batch_shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "base/math.hpp"
#include "base/units.hpp"
#include "plan/data/words.hpp"

namespace spillway {
namespace {

[[noreturn]] void refuse_share(std::string const& why) {
  throw Error(Status::bad_input, "batch.share: " + why);
}

// Parts `all` micro-batches by largest remainder. A rank that would get none takes one from the
// rank that has most for its share.
std::vector<std::int64_t> parted(std::int64_t all, std::vector<std::int64_t> const& share) {
  auto const sum = std::accumulate(share.begin(), share.end(), std::int64_t{0});
  std::vector<std::int64_t> counts;
  for (auto const part : share) counts.push_back(all * part / sum);
  std::vector<std::size_t> by_remainder(share.size());
  std::iota(by_remainder.begin(), by_remainder.end(), std::size_t{0});
  std::ranges::stable_sort(by_remainder, std::ranges::greater(),
                           [&](std::size_t rank) { return all * share[rank] % sum; });
  auto const left = all - std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  for (std::size_t i = 0; i < static_cast<std::size_t>(left); ++i) ++counts[by_remainder[i]];
  for (auto& count : counts) {
    if (count > 0) continue;
    auto const load = [&](std::int64_t const& other) {
      auto const rank = static_cast<std::size_t>(&other - counts.data());
      return other > 1 ? static_cast<double>(other) / static_cast<double>(share[rank]) : 0;
    };
    --*std::ranges::max_element(counts, {}, load);
    count = 1;
  }
  return counts;
}

// Returns the time of a step in sequences of a rank, as if the ranks' speeds were as their shares.
double busy_sequences(BatchConfig const& batch, std::int64_t micro, std::int64_t ranks) {
  auto const shape = batch_shape(batch, micro, 0, ranks);
  if (shape.counts.empty()) return static_cast<double>(micro * shape.micro_batches());
  double most = 0;
  for (std::size_t rank = 0; rank < batch.share.size(); ++rank)
    most = std::max(most, static_cast<double>(micro * shape.counts[rank]) /
                              static_cast<double>(batch.share[rank]));
  return most;
}

}  // namespace

std::int64_t BatchShape::micro_batches() const {
  if (counts.empty()) return div_ceil(sequences, micro * ranks);
  return counts[static_cast<std::size_t>(rank)];
}

std::int64_t BatchShape::most_micro_batches() const {
  return counts.empty() ? micro_batches() : std::ranges::max(counts);
}

std::vector<std::int64_t> BatchShape::fewer() const {
  auto others = counts;
  std::erase(others, most_micro_batches());
  std::ranges::sort(others, std::ranges::greater());
  auto const repeated = std::ranges::unique(others);
  others.erase(repeated.begin(), repeated.end());
  return others;
}

std::int64_t BatchShape::places() const {
  auto const all = counts.empty() ? micro_batches() * ranks
                                  : std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  return all * micro;
}

double BatchShape::filled_of_most() const {
  return static_cast<double>(sequences) / static_cast<double>(most_micro_batches() * micro * ranks);
}

std::optional<std::int64_t> BatchShape::sample(std::int64_t micro_batch, std::int64_t place) const {
  auto number = micro_batch * ranks + rank;
  if (!counts.empty()) {
    number = 0;
    for (std::int64_t other = 0; auto const count : counts)
      number += std::min(count, micro_batch) + (other++ < rank && count > micro_batch ? 1 : 0);
  }
  auto const sample = number * micro + place;
  if (sample >= sequences) return std::nullopt;
  return sample;
}

BatchShape batch_shape(BatchConfig const& batch, std::int64_t micro, std::int64_t rank,
                       std::int64_t ranks) {
  BatchShape shape{batch.sequences, micro, rank, ranks};
  if (batch.share.empty()) return shape;
  if (std::ssize(batch.share) != ranks)
    refuse_share(fmt::format("a list of {} for {}", batch.share.size(), count(ranks, "rank")));
  auto const all = div_ceil(batch.sequences, micro);
  if (all < ranks)
    refuse_share(fmt::format("{} of {} for {}; give a smaller batch.micro or more batch.sequences",
                             count(all, "micro-batch"), count(micro, "sequence"),
                             count(ranks, "rank")));
  shape.counts = parted(all, batch.share);
  return shape;
}

std::string describe_share(BatchShape const& shape) {
  if (shape.counts.empty()) return "";
  constexpr std::int64_t few = 16;
  auto const numbers = shape.ranks <= few ? fmt::format("{}", fmt::join(shape.counts, ", "))
                                          : fmt::format("{} to {}", std::ranges::min(shape.counts),
                                                        std::ranges::max(shape.counts));
  return fmt::format("Micro-batches of a step, by rank (batch.share): {}; the plan stays\n",
                     numbers);
}

std::string describe_empty_rows(BatchShape const& shape) {
  auto const places_of = [&](std::int64_t micro) {
    auto const at_once = shape.counts.empty() ? micro * shape.ranks : micro;
    return div_ceil(shape.sequences, at_once) * at_once;
  };
  auto const empty_of = [&](std::int64_t micro) { return places_of(micro) - shape.sequences; };
  auto const share = [&](std::int64_t micro) {
    auto const percent =
        100.0 * static_cast<double>(empty_of(micro)) / static_cast<double>(places_of(micro));
    return fmt::format("{} of {} rows ({} %)", empty_of(micro), places_of(micro),
                       human_number(percent, 2));
  };
  auto const empty = empty_of(shape.micro);
  if (empty == 0) return "";
  auto better = shape.micro;
  for (auto micro = shape.micro; micro >= 1; --micro)
    if (empty_of(micro) < empty_of(better)) better = micro;
  auto const advice = better == shape.micro
                          ? std::string()
                          : fmt::format("; batch.micro={} leaves {}", better,
                                        empty_of(better) == 0 ? "none" : share(better));
  return fmt::format("{} of a step {} empty, as {} {} not part into micro-batches of {} on {}{}\n",
                     share(shape.micro), empty == 1 ? "is" : "are",
                     count(shape.sequences, "sequence"), shape.sequences == 1 ? "does" : "do",
                     shape.micro, count(shape.ranks, "rank"), advice);
}

std::int64_t largest_micro(BatchConfig const& batch, std::int64_t ranks) {
  if (batch.share.empty() || ranks == 1) return div_ceil(batch.sequences, ranks);
  return std::max<std::int64_t>(1, (batch.sequences - 1) / (ranks - 1));
}

std::int64_t fullest_micro(BatchConfig const& batch, std::int64_t ranks, std::int64_t most) {
  auto best = most;
  for (auto micro = most; 2 * micro >= most && micro >= 1; --micro)
    if (busy_sequences(batch, micro, ranks) < busy_sequences(batch, best, ranks)) best = micro;
  return best;
}

}  // namespace spillway
