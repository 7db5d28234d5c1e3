#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/units.hpp"
#include "plan/data/words.hpp"
#include "plan/listing/listing.hpp"

namespace spillway {

namespace {

// Columns are at most this wide. Names can be longer, because a model's author chooses them; a
// longer name shifts only its own line.
constexpr std::size_t kWidestWhat = 48, kWidestBuffers = 64;

// Returns which bytes an access uses, for example "device[0x1200000 +42 MiB]".
std::string place(Program const& program, Access const& access) {
  Buffer const& buffer = program.buffers[access.buffer];
  return fmt::format("{}[{:#x} +{}]", name(buffer.tier), buffer.offset + access.first,
                     human_bytes(access.last - access.first));
}

// Returns the numbers of the buffers that are accessed, each once and in order: "#12 #7".
std::string numbers(std::vector<Access> const& accesses) {
  std::vector<std::string> texts;
  for (Access const& access : accesses) {
    auto const text = fmt::format("#{}", access.buffer);
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
  }
  return fmt::format("{}", fmt::join(texts, " "));
}

// Returns a text with the buffers that an item uses. For a copy, which may read control words too,
// the text has the places of the source and the destination.
std::string buffers(Program const& program, Item const& item) {
  auto const read = numbers(item.reads);
  if (item.kind == ItemKind::copy && !item.reads.empty() && !item.writes.empty()) {
    auto from = item.reads.front();
    auto const& to = item.writes.front();
    for (Access const& access : item.reads) {  // gaps split a gradient into several ranges
      if (access.buffer == from.buffer) from.last = std::max(from.last, access.last);
    }
    return fmt::format("{} {} -> #{} {}", read, place(program, from), to.buffer,
                       place(program, to));
  }
  return fmt::format("{}{}-> {}", read, read.empty() ? "" : " ", numbers(item.writes));
}

// Returns the width of the widest text in the column that is not wider than `most`.
std::size_t width(std::vector<std::string> const& column, std::size_t most) {
  std::size_t widest = 0;
  for (auto const& text : column)
    if (text.size() <= most) widest = std::max(widest, text.size());
  return widest;
}

std::string heading(Program const& program, Segment const& segment) {
  auto const times = times_a_step(program, segment);
  auto const often = program.once ? ""
                     : times == 1 ? ", once a step"
                                  : fmt::format(", {} times a step", times);
  return fmt::format("\nSegment {}: items {} to {}{}\n", segment.name, segment.first,
                     segment.last - 1, often);
}

std::string segments_text(Program const& program) {
  IdVector<std::string> whats, uses;
  for (Item const& item : program.items) {
    whats.push_back(what(program, item));
    uses.push_back(buffers(program, item));
  }
  auto const number_width = fmt::formatted_size("{}", program.items.size() - 1) + 2;
  auto const what_width = width(whats, kWidestWhat), uses_width = width(uses, kWidestBuffers);
  std::string text;
  for (Segment const& segment : program.segments) {
    text += heading(program, segment);
    for (ItemNumber i = segment.first; i < segment.last; ++i) {
      Item const& item = program.items[i];
      text += fmt::format("{:>{}} {:10} {:{}} ", i, number_width, name(item.lane), whats[i],
                          what_width);
      text += item.waits.empty() ? uses[i]
                                 : fmt::format("{:{}}  waits {}", uses[i], uses_width,
                                               fmt::join(item.waits, ", "));
      text += "\n";
    }
  }
  return text;
}

// Returns for each buffer a text that names the first and the last item that use the buffer.
std::vector<std::string> users(Program const& program) {
  IdVector<std::pair<ItemNumber, ItemNumber>> range(program.buffers.size(), {-1, -1});
  for (Item const& item : program.items) {
    for (Access const& access : accesses(item)) {
      auto& [first, last] = range[access.buffer];
      if (first < 0) first = item.number;
      last = item.number;
    }
  }
  std::vector<std::string> texts;
  for (auto const& [first, last] : range)
    texts.push_back(first < 0       ? "-"
                    : first == last ? std::to_string(first)
                                    : fmt::format("{}-{}", first, last));
  return texts;
}

std::string buffers_text(Program const& program) {
  auto const used_by = users(program);
  std::string text = "\nBuffers: tier, offset, bytes, the items that use it, name\n";
  for (Buffer const& buffer : program.buffers) {
    text += fmt::format("{:>6} {:6} {:#12x} {:12} {:>9}  {}", fmt::format("#{}", buffer.id),
                        name(buffer.tier), buffer.offset, buffer.bytes, used_by[buffer.id],
                        buffer.name);
    if (buffer.persistent) text += ", state";
    if (buffer.spanning) text += ", spans segments";
    if (buffer.versions > 1)
      text += fmt::format(", again {:#x} further for odd steps", buffer.stride);
    text += "\n";
  }
  return text;
}

std::string head(Program const& program) {
  auto text = fmt::format(
      "{} and {}; micro-batches a step: {}, ranks: {}\n", count(std::ssize(program.items), "item"),
      count(std::ssize(program.buffers), "buffer"), program.micro_batches, program.ranks);
  for (Tier const tier : kTiersInOrder)
    text += fmt::format("{:6} {} bytes, of which {} are state\n", name(tier),
                        program.peak_bytes[tier], program.persistent_bytes[tier]);
  return text;
}

}  // namespace

std::string items_text(Program const& program) {
  return head(program) + segments_text(program) + buffers_text(program);
}

}  // namespace spillway
