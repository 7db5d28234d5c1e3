#include "plan/listing/items_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/units.hpp"
#include "plan/data/words.hpp"

namespace spillway {

namespace {

// Names are as long as a model's author likes: longer ones push their own line alone.
constexpr std::size_t kWidestWhat = 48, kWidestBuffers = 64;

struct Row {
  std::string number, lane, what, buffers, waits;
};

Buffer const& buffer_of(Program const& program, Access const& access) {
  return program.buffers[access.buffer];
}

// "device[0x1200000 +42 MiB]": the bytes that are moved, not more.
std::string place(Program const& program, Access const& access) {
  Buffer const& buffer = buffer_of(program, access);
  return fmt::format("{}[{:#x} +{}]", name(buffer.tier), buffer.offset + access.first,
                     human_bytes(access.last - access.first));
}

// "#12 #7", each once and in their order.
std::string numbers(std::vector<Access> const& accesses) {
  std::vector<BufferId> ids;
  for (Access const& access : accesses) {
    if (std::ranges::find(ids, access.buffer) == ids.end()) ids.push_back(access.buffer);
  }
  std::string text;
  for (BufferId const id : ids) text += fmt::format("{}#{}", text.empty() ? "" : " ", id);
  return text;
}

// A copy's two sides in full, since where bytes go is all that it does. It may read control words
// beside its source.
std::string buffers(Program const& program, Item const& item) {
  if (item.kind == ItemKind::copy && !item.reads.empty() && !item.writes.empty()) {
    auto from = item.reads.front();
    auto const& to = item.writes.front();
    for (Access const& read : item.reads) {  // a gradient is read without the gaps in it
      if (read.buffer == from.buffer) from.last = std::max(from.last, read.last);
    }
    return fmt::format("{} {} -> #{} {}", numbers(item.reads), place(program, from), to.buffer,
                       place(program, to));
  }
  auto const read = numbers(item.reads);
  return fmt::format("{}{}-> {}", read, read.empty() ? "" : " ", numbers(item.writes));
}

Row row_of(Program const& program, Item const& item) {
  auto const waits = item.waits.empty() ? "" : fmt::format("waits {}", fmt::join(item.waits, ", "));
  return {std::to_string(item.number), std::string(name(item.lane)), what(program, item),
          buffers(program, item), waits};
}

// Where columns end.
struct Widths {
  std::size_t number = 0, what = 0, buffers = 0;
};

Widths widths_of(std::vector<Row> const& rows) {
  Widths widths;
  for (Row const& row : rows) {
    widths.number = std::max(widths.number, row.number.size());
    if (row.what.size() <= kWidestWhat) widths.what = std::max(widths.what, row.what.size());
    if (row.buffers.size() <= kWidestBuffers)
      widths.buffers = std::max(widths.buffers, row.buffers.size());
  }
  return widths;
}

std::string line_of(Row const& row, Widths const& widths) {
  auto const line = fmt::format("{:>{}} {:10} {:{}} ", row.number, widths.number + 2, row.lane,
                                row.what, widths.what);
  if (row.waits.empty()) return line + row.buffers + "\n";
  return fmt::format("{}{:{}}  {}\n", line, row.buffers, widths.buffers, row.waits);
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
  std::vector<Row> rows;
  for (Item const& item : program.items) rows.push_back(row_of(program, item));
  auto const widths = widths_of(rows);
  std::string text;
  for (Segment const& segment : program.segments) {
    text += heading(program, segment);
    for (ItemNumber i = segment.first; i < segment.last; ++i) text += line_of(rows[i], widths);
  }
  return text;
}

// The items that use a buffer, from the first to the last.
std::vector<std::string> users(Program const& program) {
  std::vector<std::pair<ItemNumber, ItemNumber>> range(program.buffers.size(), {-1, -1});
  for (Item const& item : program.items) {
    for (auto const* accesses : {&item.reads, &item.writes}) {
      for (Access const& access : *accesses) {
        auto& [first, last] = range[access.buffer];
        if (first < 0) first = item.number;
        last = item.number;
      }
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
  auto const count_of = [](auto const& list, std::string_view word) {
    return count(static_cast<std::int64_t>(list.size()), word);
  };
  auto text = fmt::format("{} and {}; micro-batches a step: {}, ranks: {}\n",
                          count_of(program.items, "item"), count_of(program.buffers, "buffer"),
                          program.micro_batches, program.ranks);
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
