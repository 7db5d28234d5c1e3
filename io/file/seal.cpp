#include "io/file/seal.hpp"

#include <fmt/core.h>

#include <span>

#include "base/checksum.hpp"
#include "base/error.hpp"

namespace spillway {
namespace {

constexpr std::string_view kSeal = "# checksum: ";

std::string seal_of(std::string_view text) {
  return fmt::format("{}{}\n", kSeal, checksum_text(checksum(std::as_bytes(std::span(text)))));
}

}  // namespace

std::string sealed(std::string text) {
  return text + seal_of(text);
}

std::string unsealed(std::string_view text) {
  auto const at = text.rfind(kSeal);
  if (at == text.npos || text.substr(at) != seal_of(text.substr(0, at)))
    throw Error(Status::damaged, "damaged, or cut short");
  return std::string(text.substr(0, at));
}

}  // namespace spillway
