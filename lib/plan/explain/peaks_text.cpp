#include "plan/explain/peaks_text.hpp"

#include <fmt/core.h>

#include "base/units.hpp"
#include "plan/data/words.hpp"
#include "plan/explain/contributors.hpp"

namespace spillway {

namespace {

// "activations kept for later: 98 tensors, the largest h.0/fc (12 MiB)"
std::string part_text(Program const& program, Tier tier, PeakMoment::Part const& part) {
  auto text = std::string(name(part.content));
  if (part.content == Content::activations) {
    text += tier != Tier::device ? " spilled" : part.passing ? " in use" : " kept for later";
  } else if (part.passing) {
    text += " brought for use";
  }
  auto const& largest = program.buffers[part.largest].name;
  if (part.tensors == 1) return fmt::format("{}: {}", text, largest);
  return fmt::format("{}: {} tensors, the largest {} ({})", text, part.tensors, largest,
                     human_bytes(part.largest_bytes));
}

// ", in the backward pass at h.3/attn (item 175 of 900)".
std::string moment_text(Program const& program, Tier tier, ItemNumber number) {
  if (program.persistent_bytes[tier] == program.peak_bytes[tier]) return ", all the time";
  constexpr std::string_view passes[] = {"forward pass", "backward pass", "update"};
  Item const& item = program.items[number];
  if (item.kind != ItemKind::op) return ", at " + describe(program, number);
  Op const& op = program.ops[item.op];
  return fmt::format(", in the {} at {} (item {} of {})",
                     passes[static_cast<std::size_t>(op.phase)], op.name, number,
                     program.items.size());
}

std::string row(std::int64_t bytes, std::int64_t peak, std::string const& what) {
  if (bytes == 0) return "";
  return fmt::format("  {:>9} {:>5}  {}\n", human_bytes(bytes),
                     percent(static_cast<double>(bytes), static_cast<double>(peak)), what);
}

// What is small is summed up.
std::string peak_text(Program const& program, Tier tier) {
  auto const moment = peak_moment(program, tier);
  if (moment.item < 0) return "";
  auto const peak = program.peak_bytes[tier];
  auto text = fmt::format("{} {}{}\n", words(tier), human_bytes(peak),
                          moment_text(program, tier, moment.item));
  std::int64_t rest = 0;
  for (auto const& part : moment.parts) {
    bool const small = part.bytes < peak / 100;
    rest += small ? part.bytes : 0;
    if (!small) text += row(part.bytes, peak, part_text(program, tier, part));
  }
  return text + row(rest, peak, "small things") + row(moment.gap_bytes, peak, "unused then");
}

}  // namespace

std::string peaks_text(Program const& program) {
  std::string text = "\nWhat is there when the most bytes are in use\n";
  for (Tier const tier : kTiersInOrder) text += peak_text(program, tier);
  return text;
}

}  // namespace spillway
