#include "io/texts/input_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace spillway {
namespace {

struct FormatEnding {
  std::string_view ending;
  TextFormat format;
};
constexpr std::array<FormatEnding, 5> kFormats = {{{".txt", TextFormat::text},
                                                   {".jsonl", TextFormat::jsonl},
                                                   {".ndjson", TextFormat::jsonl},
                                                   {".json", TextFormat::json},
                                                   {".parquet", TextFormat::parquet}}};

struct PackingEnding {
  std::string_view ending, magic;
  Packing packing;
};
constexpr std::array<PackingEnding, 2> kPackings = {
    {{".gz", "\x1f\x8b", Packing::gzip}, {".zst", "\x28\xb5\x2f\xfd", Packing::zstd}}};

}  // namespace

std::optional<InputKind> kind_by_name(std::filesystem::path const& file) {
  auto name = file.filename().string();
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  InputKind kind;
  for (auto const& [ending, _, packing] : kPackings) {
    if (!name.ends_with(ending)) continue;
    kind.packing = packing;
    name.resize(name.size() - ending.size());
    break;
  }
  for (auto const& [ending, format] : kFormats)
    if (name.ends_with(ending)) return InputKind{format, kind.packing};
  return kind.packing == Packing::none ? std::nullopt : std::optional(kind);
}

std::string known_endings() {
  std::string text;
  for (auto const& [ending, format] : kFormats)
    if (format != TextFormat::parquet)
      text += fmt::format("{}{}", text.empty() ? "" : ", ", ending);
  return text + ", also with .gz or .zst, or with .parquet";
}

Packing packing_of(std::string_view beginning) {
  for (auto const& [_, magic, packing] : kPackings)
    if (beginning.starts_with(magic)) return packing;
  return Packing::none;
}

bool is_parquet(std::string_view beginning) {
  return beginning == "PAR1";
}

}  // namespace spillway
