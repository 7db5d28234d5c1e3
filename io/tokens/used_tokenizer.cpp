#include "io/tokens/used_tokenizer.hpp"

#include <fmt/core.h>

#include "base/error.hpp"
#include "tokenizer/open_tokenizer.hpp"

namespace spillway {
namespace {

// Returns what only the same tokenizer has; "" if that is not known.
std::string identity(UsedTokenizer const& tokenizer) {
  if (!tokenizer.checksum.empty()) return tokenizer.checksum;
  return tokenizer.name == kByteTokenizer ? tokenizer.name : "";
}

std::string described(UsedTokenizer const& tokenizer) {
  if (tokenizer.checksum.empty()) return fmt::format("'{}'", tokenizer.name);
  return fmt::format("'{}' (checksum {})", tokenizer.name, tokenizer.checksum);
}

}  // namespace

bool are_different(UsedTokenizer const& one, UsedTokenizer const& other) {
  auto const first = identity(one), second = identity(other);
  return !first.empty() && !second.empty() && first != second;
}

void require_same_tokenizer(std::string const& one_place, UsedTokenizer const& one,
                            std::string const& other_place, UsedTokenizer const& other) {
  if (!are_different(one, other)) return;
  throw Error(Status::bad_input,
              fmt::format("{} has tokens of {}, {} those of {}; make both with one tokenizer "
                          "(spillway tokenize --tokenizer)",
                          one_place, described(one), other_place, described(other)));
}

}  // namespace spillway
