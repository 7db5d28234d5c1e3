#include "plan/proof/verify_shared.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "plan/data/plan.hpp"

namespace spillway {
namespace {

std::int64_t end_of(Buffer const& buffer) {
  return buffer.offset + buffer.bytes + (buffer.versions - 1) * buffer.stride;
}

std::string words(Buffer const& buffer) {
  return fmt::format("{} (bytes {} to {} of {})", buffer.name, buffer.offset, end_of(buffer),
                     name(buffer.tier));
}

std::vector<Buffer const*> buffers_of(std::span<Program const* const> programs, bool persistent) {
  std::vector<Buffer const*> all;
  for (auto const* program : programs)
    for (auto const& buffer : program->buffers)
      if (buffer.persistent == persistent) all.push_back(&buffer);
  return all;
}

// Returns one buffer for each name and tier. Sets `why` where Programs differ about one.
std::vector<Buffer const*> distinct_buffers(std::vector<Buffer const*> const& all,
                                            std::string& why) {
  std::map<std::pair<std::string, Tier>, Buffer const*> by_name;
  std::vector<Buffer const*> each;
  for (auto const* buffer : all) {
    auto const [found, is_new] = by_name.try_emplace({buffer->name, buffer->tier}, buffer);
    auto const* const known = found->second;
    if (is_new) each.push_back(buffer);
    if (known->offset != buffer->offset || end_of(*known) != end_of(*buffer))
      why = fmt::format("{} is {} in another Program", words(*known), words(*buffer));
  }
  return each;
}

}  // namespace

std::optional<std::string> verify_shared(std::span<Program const* const> programs) {
  std::string why;
  auto persistent = distinct_buffers(buffers_of(programs, true), why);
  if (!why.empty()) return why;
  std::ranges::sort(persistent, {}, [](Buffer const* b) { return std::tuple(b->tier, b->offset); });
  PerTier<std::int64_t> end{};
  for (auto const* buffer : persistent) {
    if (buffer->offset < end[buffer->tier])
      return words(*buffer) + " persists where something else does";
    end[buffer->tier] = end_of(*buffer);
  }
  for (auto const* buffer : buffers_of(programs, false))
    if (buffer->offset < end[buffer->tier])
      return words(*buffer) + " is transient where something persists";
  return std::nullopt;
}

void prove_shared(std::span<Program const* const> programs) {
  if (auto const why = verify_shared(programs)) throw std::logic_error(*why);
}

}  // namespace spillway
