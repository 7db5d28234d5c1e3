#include "io/tokens/token_head.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/compact_json.hpp"
#include "base/error.hpp"
#include "io/file/seal.hpp"
#include "io/tokens/token_format.hpp"

namespace spillway {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostTokens = std::int64_t{1} << 52;
constexpr std::size_t kMostNameBytes = 256;
constexpr std::string_view kBeginning = R"({"format":"spillway-tokens",)";

[[noreturn]] void fail(std::string const& source, std::string const& why) {
  throw Error(Status::damaged, fmt::format("{}: {}", source, why));
}

std::int64_t bounded(Json const& json, char const* key, std::int64_t least, std::int64_t most,
                     std::string const& source) {
  auto const& number = json.at(key);
  bool const possible = number.is_number_integer() && number >= least && number <= most;
  if (!possible) fail(source, fmt::format("{} of {} is impossible", key, number.dump()));
  return number.get<std::int64_t>();
}

std::string name(Json const& json, char const* key, std::string const& source) {
  auto const text = json.at(key).get<std::string>();
  bool const plain =
      text.size() <= kMostNameBytes &&
      std::ranges::none_of(text, [](unsigned char c) { return c < ' ' || c == 127; });
  if (!plain) fail(source, fmt::format("{}: is no name", key));
  return text;
}

int token_bytes(Json const& json, std::string const& source) {
  auto const bytes = bounded(json, "token_bytes", 1, 4, source);
  if (bytes == 3) fail(source, "token_bytes of 3 is impossible");
  return static_cast<int>(bytes);
}

void require_known_version(Json const& json, std::string const& source) {
  auto const version = bounded(json, "version", 1, kMostTokens, source);
  if (version > masked_token_format_version)
    fail(source, fmt::format("is of token format {}, which is not known to this build", version));
}

TokenLayout parse(Json const& json, std::string const& source) {
  require_known_version(json, source);
  auto const number = [&](char const* key, std::int64_t least, std::int64_t most) {
    return bounded(json, key, least, most, source);
  };
  auto const number_or_0 = [&](char const* key) {
    return json.contains(key) ? number(key, 0, kMostTokens) : 0;
  };
  return {.kind = name(json, "kind", source),
          .tokenizer = name(json, "tokenizer", source),
          .vocab = number("vocab", 1, kMostVocab),
          .count = number("tokens", 0, kMostTokens),
          .documents = number("documents", 0, kMostTokens),
          .offset_bytes = number("tokens_at", 0, kMostTokens),
          .token_bytes = token_bytes(json, source),
          .documents_offset_bytes = number("documents_at", 0, kMostTokens),
          .checksums_offset_bytes = number("checksums_at", 0, kMostTokens),
          .mask_offset_bytes = number_or_0("loss_mask_at"),
          .mask_checksums_offset_bytes = number_or_0("loss_mask_checksums_at"),
          .learned = number_or_0("learned"),
          .documents_checksum = name(json, "documents_xxh3", source),
          .tokenizer_checksum =
              json.contains("tokenizer_xxh3") ? name(json, "tokenizer_xxh3", source) : ""};
}

}  // namespace

std::string to_json(TokenLayout const& layout) {
  bool const has_mask = layout.mask_offset_bytes > 0;
  Json json = {{"format", token_format},
               {"version", has_mask ? masked_token_format_version : token_format_version},
               {"kind", layout.kind},
               {"tokenizer", layout.tokenizer},
               {"vocab", layout.vocab},
               {"token_bytes", layout.token_bytes},
               {"tokens", layout.count},
               {"tokens_at", layout.offset_bytes},
               {"documents", layout.documents},
               {"documents_at", layout.documents_offset_bytes},
               {"checksums_at", layout.checksums_offset_bytes},
               {"documents_xxh3", layout.documents_checksum}};
  // A tokenizer without a file, such as that of bytes, has no checksum.
  if (!layout.tokenizer_checksum.empty()) json["tokenizer_xxh3"] = layout.tokenizer_checksum;
  if (has_mask) {
    json["loss_mask_at"] = layout.mask_offset_bytes;
    json["loss_mask_checksums_at"] = layout.mask_checksums_offset_bytes;
    json["learned"] = layout.learned;
  }
  return compact_json(json);
}

TokenLayout token_layout_from_json(std::string_view text, std::string const& source) {
  try {
    return parse(Json::parse(text), source);
  } catch (Json::exception const&) {
    fail(source, "says nothing that can be understood");
  }
}

std::string token_head(TokenLayout const& layout) {
  auto head = sealed(to_json(layout) + "\n");
  if (std::ssize(head) > kTokenHeadBytes)
    throw std::logic_error("token file: the head does not fit: " + layout.tokenizer);
  head.resize(kTokenHeadBytes, '\0');
  return head;
}

bool has_token_head(std::string_view beginning) {
  return beginning.starts_with(kBeginning);
}

TokenLayout read_token_head(std::string_view beginning, std::string const& source) {
  auto const end = std::min(beginning.find('\0'), beginning.size());
  bool const whole = std::ssize(beginning) == kTokenHeadBytes &&
                     beginning.find_first_not_of('\0', end) == beginning.npos;
  std::string text;
  try {
    if (whole) text = unsealed(beginning.substr(0, end));
  } catch (Error const&) {  // fail() below reports the error
  }
  if (text.empty()) fail(source, "its head is not what was written");
  return token_layout_from_json(text, source);
}

}  // namespace spillway
