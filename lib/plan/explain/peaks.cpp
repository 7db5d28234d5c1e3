#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "base/units.hpp"
#include "base/wrapped.hpp"
#include "plan/explain/explain.hpp"
#include "plan/memory/lifetime.hpp"

namespace spillway {

namespace {

using Contributor = PeakMoment::Contributor;

std::int64_t bytes_during(Lifetime const& stays, ItemNumber item) {
  std::int64_t bytes = 0;
  for (Stay const& stay : stays) bytes += stay.covers(item) ? stay.last_byte - stay.first_byte : 0;
  return bytes;
}

// Returns whether a buffer is needed only for a moment, because it holds activations of the block
// that runs, or a copy of a tensor whose home is elsewhere.
bool is_passing(Program const& program, Buffer const& buffer, int block_at_work) {
  Tensor const& tensor = program.tensors[buffer.tensor];
  if (content(program, buffer) == Content::activations)
    return buffer.tier == Tier::device && tensor.block == block_at_work;
  return tensor.persistent && !buffer.persistent;
}

Contributor& contributor_of(std::vector<Contributor>& contributors, Content content, bool passing) {
  auto const found = std::ranges::find_if(contributors, [&](Contributor const& contributor) {
    return contributor.content == content && contributor.passing == passing;
  });
  return found == contributors.end() ? contributors.emplace_back(content, passing) : *found;
}

std::vector<Contributor> contributors_during(Program const& program, Lifetimes const& alive,
                                             Tier tier, ItemNumber item) {
  std::vector<Contributor> contributors;
  int const block_at_work = program.items[item].block;
  for (Buffer const& buffer : program.buffers) {
    if (buffer.tier != tier) continue;
    auto const bytes = bytes_during(alive[buffer.id], item);
    if (bytes == 0) continue;
    bool const passing = is_passing(program, buffer, block_at_work);
    Contributor& contributor = contributor_of(contributors, content(program, buffer), passing);
    contributor.bytes += bytes;
    ++contributor.tensors;
    if (bytes <= contributor.largest_bytes) continue;
    contributor.largest = buffer.id;
    contributor.largest_bytes = bytes;
  }
  std::ranges::stable_sort(contributors, std::greater<>{}, &Contributor::bytes);
  return contributors;
}

// Returns a text such as "activations kept for later: 98 tensors, largest h.0/fc (12 MiB)".
std::string contributor_text(Program const& program, Tier tier, Contributor const& contributor) {
  auto text = std::string(name(contributor.content));
  if (contributor.content == Content::activations) {
    text += tier != Tier::device ? " spilled" : contributor.passing ? " in use" : " kept for later";
  } else if (contributor.passing) {
    text += " brought for use";
  }
  auto const& largest = program.buffers[contributor.largest].name;
  if (contributor.tensors == 1) return fmt::format("{}: {}", text, largest);
  return fmt::format("{}: {} tensors, largest {} ({})", text, contributor.tensors, largest,
                     human_bytes(contributor.largest_bytes));
}

// Returns a text such as ", in the backward pass at h.3/attn (item 175 of 900)".
std::string moment_text(Program const& program, Tier tier, ItemNumber number) {
  if (program.persistent_bytes[tier] == program.peak_bytes[tier]) return ", all the time";
  constexpr std::string_view passes[] = {"forward pass", "backward pass", "update", "update"};
  static_assert(std::size(passes) == static_cast<std::size_t>(Phase::update) + 1);
  Item const& item = program.items[number];
  if (item.kind != ItemKind::op) return ", at " + describe(program, number);
  Op const& op = program.ops[item.op];
  return fmt::format(", in the {} at {} (item {} of {})",
                     passes[static_cast<std::size_t>(op.phase)], op.name, number,
                     program.items.size());
}

std::string row(std::int64_t bytes, std::int64_t peak, std::string const& what) {
  if (bytes == 0) return "";
  auto const line =
      fmt::format("  {:>9} {:>5}  {}", human_bytes(bytes),
                  percent(static_cast<double>(bytes), static_cast<double>(peak)), what);
  return wrapped_line(line, std::string(line.size() - what.size(), ' '));
}

// Returns a text that lists what fills a tier at its peak. It sums up all that takes below 1 %.
std::string peak_text(Program const& program, Tier tier) {
  auto const moment = peak_moment(program, tier);
  if (moment.item < 0) return "";
  auto const peak = program.peak_bytes[tier];
  auto text = wrapped_line(fmt::format("{} {}{}", words(tier), human_bytes(peak),
                                       moment_text(program, tier, moment.item)));
  std::int64_t rest = 0;
  for (auto const& contributor : moment.contributors) {
    bool const small = contributor.bytes < peak / 100;
    rest += small ? contributor.bytes : 0;
    if (!small) text += row(contributor.bytes, peak, contributor_text(program, tier, contributor));
  }
  return text + row(rest, peak, "small things") + row(moment.gap_bytes, peak, "unused then");
}

}  // namespace

PeakMoment peak_moment(Program const& program, Tier tier) {
  PeakMoment moment;
  moment.gap_bytes = program.peak_bytes[tier];
  auto const alive = lifetimes(program);
  auto const live = live_bytes(program, alive, tier);
  auto const most = std::ranges::max_element(live);
  if (most == live.end() || *most == 0) return moment;
  moment.item = static_cast<ItemNumber>(most - live.begin());
  moment.contributors = contributors_during(program, alive, tier, moment.item);
  moment.gap_bytes -= *most;
  return moment;
}

std::string peaks_text(Program const& program) {
  std::string text = "\nWhat is there when the most bytes are in use\n";
  for (Tier const tier : kTiersInOrder) text += peak_text(program, tier);
  return text;
}

}  // namespace spillway
