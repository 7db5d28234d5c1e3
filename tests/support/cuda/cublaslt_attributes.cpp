#include "tests/support/cuda/cublaslt_attributes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "tests/support/cuda/cublaslt_call.hpp"

namespace spillway::test::cuda {
namespace {

Attribute const& find(std::span<Attribute const> table, int id) {
  auto const found = std::ranges::find(table, id, &Attribute::id);
  if (found == table.end())
    throw not_supported(fmt::format("the stand-in does not know attribute {}", id));
  if (found->bytes == 0) throw not_supported(fmt::format("the stand-in has no {}", found->name));
  return *found;
}

void expect_size(Attribute const& attribute, std::size_t bytes) {
  if (bytes == attribute.bytes) return;
  throw invalid(
      fmt::format("{} has {} bytes, and {} are given", attribute.name, attribute.bytes, bytes));
}

// Returns whether the attribute may have this value. Only as many bytes of the int64 in the table
// are compared as the attribute has.
bool is_allowed(Attribute const& attribute, void const* value) {
  if (attribute.allowed.empty()) return true;
  return std::ranges::any_of(attribute.allowed, [&](std::int64_t one) {
    return std::memcmp(&one, value, attribute.bytes) == 0;
  });
}

}  // namespace

bool set_attribute(std::span<Attribute const> table, void* object, int id, void const* value,
                   std::size_t bytes) {
  auto const& attribute = find(table, id);
  expect_size(attribute, bytes);
  if (value == nullptr) throw invalid(fmt::format("{} is set to no value", attribute.name));
  if (attribute.read_only) throw invalid(fmt::format("{} can only be read", attribute.name));
  if (!is_allowed(attribute, value))
    throw not_supported(
        fmt::format("{} has a value that the stand-in does not do", attribute.name));
  auto* const at = static_cast<std::byte*>(object) + attribute.offset;
  bool const changes = std::memcmp(at, value, bytes) != 0;
  std::memcpy(at, value, bytes);
  return changes;
}

void get_attribute(std::span<Attribute const> table, void const* object, int id, void* value,
                   std::size_t bytes, std::size_t* written) {
  auto const& attribute = find(table, id);
  if (bytes == 0) {  // the caller asks for the size only
    if (written == nullptr) throw invalid(fmt::format("{} is read to nowhere", attribute.name));
    *written = attribute.bytes;
    return;
  }
  expect_size(attribute, bytes);
  if (value == nullptr) throw invalid(fmt::format("{} is read to nowhere", attribute.name));
  std::memcpy(value, static_cast<std::byte const*>(object) + attribute.offset, bytes);
  if (written != nullptr) *written = bytes;
}

}  // namespace spillway::test::cuda
