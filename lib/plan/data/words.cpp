#include "plan/data/words.hpp"

#include <fmt/core.h>

#include <cmath>

#include "base/units.hpp"

namespace spillway {

std::string_view words(Tier tier) {
  constexpr PerTier<std::string_view> texts = {"device memory", "host memory", "NVMe"};
  return texts[tier];
}

std::string_view words(Lane lane) {
  constexpr PerLane<std::string_view> texts = {
      "computing",    "copying to the device",  "copying to the host", "reading NVMe",
      "writing NVMe", "talking to other ranks", "working on the host", "reading data"};
  return texts[lane];
}

std::string_view awaited(Lane lane) {
  constexpr PerLane<std::string_view> texts = {
      "computing",   "copies to the device", "copies to the host", "NVMe reads",
      "NVMe writes", "other ranks",          "work on the host",   "data"};
  return texts[lane];
}

std::string_view name(Content content) {
  constexpr EnumArray<Content, std::string_view, kContents> names = {
      "parameters", "gradients", "optimizer state", "activations", "scratch", "batch and scalars"};
  return names[content];
}

Content content(Program const& program, Buffer const& buffer) {
  using enum Content;
  constexpr EnumArray<Role, Content, 10> contents = {parameters,  optimizer,   optimizer, gradients,
                                                     activations, activations, scratch,   small,
                                                     small,       activations};
  return contents[program.tensors[buffer.tensor].role];
}

Content moved_content(Program const& program, Item const& item) {
  auto result = Content::small;
  for (BufferId const operand : item.operands) {
    if (operand == kAbsent) continue;
    auto const one = content(program, program.buffers[operand]);
    if (one != Content::scratch) return one;
    result = one;
  }
  return result;
}

std::string bytes_or_dash(std::int64_t bytes) {
  return bytes == 0 ? "-" : human_bytes(bytes);
}

std::string percent(double part, double whole) {
  double const share = whole > 0 ? 100 * part / whole : 0;
  return share > 0 && share <= 0.5 ? "<1 %" : fmt::format("{:.0f} %", share);
}

std::string change(double now_s, double before_s) {
  if (now_s <= 0 || before_s <= 0) return "";
  double const more = 100 * (now_s - before_s) / before_s;
  return std::abs(more) <= 0.5 ? "same" : fmt::format("{:+.0f} %", more);
}

}  // namespace spillway
