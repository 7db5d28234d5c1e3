#include "model/objective.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <ranges>

#include "base/error.hpp"

namespace spillway {
namespace {

constexpr double kNoiseDensity = 0.15, kMeanSpan = 3;

struct SpanLengths {
  std::int64_t inputs, targets;
};

// A sentinel replaces each span among the inputs and precedes it among the targets. Inputs and
// targets each have one more row for the end of the sequence.
SpanLengths span_lengths(std::int64_t tokens) {
  auto const [noise, spans] = span_counts(tokens);
  return {tokens - noise + spans + 1, noise + spans + 1};
}

// Refuses a key that only the objective `of` reads if it is given and the run has another
// objective.
void require_objective(std::optional<std::int64_t> const& given, char const* key, Objective of,
                       Objective objective) {
  if (!given || of == objective) return;
  throw Error(Status::bad_input,
              fmt::format("{}: is of the objective {}; data.objective is {} here", key, word(of),
                          word(objective)));
}

}  // namespace

// Rounds half to even, as T5 does. At least one token is hidden, and never all of them.
SpanCounts span_counts(std::int64_t tokens) {
  auto const rounded = [](double x) { return static_cast<std::int64_t>(std::nearbyint(x)); };
  auto const noise =
      std::clamp<std::int64_t>(rounded(static_cast<double>(tokens) * kNoiseDensity), 1, tokens - 1);
  return {noise, std::max<std::int64_t>(1, rounded(static_cast<double>(noise) / kMeanSpan))};
}

// The binary search is right because neither length falls if there is one token more.
std::int64_t span_window(std::int64_t inputs, std::int64_t targets) {
  auto const counts = std::views::iota(std::int64_t{2}, 2 * std::max<std::int64_t>(inputs, 1) + 2);
  auto const last = std::ranges::partition_point(counts, [&](std::int64_t tokens) {
    auto const lengths = span_lengths(tokens);
    return lengths.inputs <= inputs && lengths.targets <= targets;
  });
  return last == counts.begin() ? 0 : *last - 1;
}

std::vector<std::int64_t> stack_lengths(DataConfig const& data, Objective objective) {
  require_objective(data.target_length, "data.target", Objective::spans, objective);
  require_objective(data.pad_id, "data.pad_id", Objective::spans, objective);
  require_objective(data.sentinel_id, "data.sentinel_id", Objective::spans, objective);
  require_objective(data.mask_id, "data.mask_id", Objective::masked, objective);
  if (objective != Objective::spans) return {data.sequence};
  auto const tokens = span_window(data.sequence, data.target_length.value_or(2 * data.sequence));
  auto const target_length =
      data.target_length.value_or(span_lengths(std::max<std::int64_t>(2, tokens)).targets);
  if (tokens == 0) {
    throw Error(
        Status::bad_input,
        fmt::format("data.{}: no span fits {} rows of the encoder and {} of the decoder; "
                    "both need at least 3",
                    data.sequence < 3 ? "sequence" : "target", data.sequence, target_length));
  }
  return {data.sequence, target_length};
}

}  // namespace spillway
