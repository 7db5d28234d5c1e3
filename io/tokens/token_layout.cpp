#include "io/tokens/token_layout.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "base/error.hpp"
#include "base/error_text.hpp"
#include "base/math.hpp"
#include "io/file/in_child.hpp"
#include "io/file/read_file.hpp"
#include "io/h5/h5_file.hpp"
#include "io/tokens/token_format.hpp"
#include "io/tokens/token_head.hpp"

namespace spillway {
namespace {

constexpr std::int64_t llmc_header_bytes = 256 * sizeof(std::int32_t);

// Each of llm.c's tokenizers has its own magic number and version.
struct LlmcKind {
  std::int32_t magic, version;
  char const* tokenizer;
  std::int64_t vocab;
  int token_bytes;
};
constexpr std::array<LlmcKind, 2> llmc_kinds = {
    {{20240520, 1, "gpt2", 50257, 2}, {20240801, 7, "llama3", 128256, 4}}};

LlmcKind const* llmc_kind(std::int32_t magic) {
  auto const* const found = std::ranges::find(llmc_kinds, magic, &LlmcKind::magic);
  return found == llmc_kinds.end() ? nullptr : found;
}

[[noreturn]] void fail(Status status, std::filesystem::path const& path, std::string const& what) {
  throw Error(status, fmt::format("{}: {}", path.string(), what));
}

TokenLayout read_llmc(std::filesystem::path const& path, LlmcKind const& kind,
                      std::span<std::int32_t const> header, std::int64_t file_bytes) {
  if (header[1] != kind.version) {
    fail(
        Status::bad_input, path,
        fmt::format("llm.c token file of version {}; version {} is read", header[1], kind.version));
  }
  auto const there = (file_bytes - llmc_header_bytes) / kind.token_bytes;
  if (header[2] != there || (file_bytes - llmc_header_bytes) % kind.token_bytes != 0) {
    fail(Status::damaged, path,
         fmt::format("{}: its header says {} tokens, it has {}",
                     header[2] > there ? "cut short" : "longer than it should be", header[2],
                     there));
  }
  return {.kind = "llm.c",
          .tokenizer = kind.tokenizer,
          .vocab = kind.vocab,
          .count = header[2],
          .offset_bytes = llmc_header_bytes,
          .token_bytes = kind.token_bytes};
}

std::int64_t place_of(H5File const& file, char const* dataset) {
  auto const place = file.offset_bytes(dataset);
  if (place < 0) {
    fail(Status::bad_input, file.path(),
         fmt::format("{}: must be contiguous (not chunked or compressed)", dataset));
  }
  return place;
}

int token_bytes(H5Type type) {
  switch (type) {
    case H5Type::u8:
      return 1;
    case H5Type::u16:
      return 2;
    case H5Type::u32:
      return 4;
    case H5Type::f32:
    case H5Type::bf16:
    case H5Type::i16:
    case H5Type::i64:
      return 0;
  }
  return 0;
}

// Finds the dataset /loss_mask, if there is one.
void find_mask(H5File const& file, TokenLayout& layout) {
  if (!file.exists(loss_mask_dataset)) return;
  auto const [type, shape] = file.info(loss_mask_dataset);
  if (type != H5Type::u8 || shape != std::vector<std::int64_t>{layout.count})
    fail(Status::bad_input, file.path(),
         "/loss_mask: must be one row of uint8, as long as /tokens");
  layout.mask_offset_bytes = place_of(file, loss_mask_dataset);
}

// Returns the layout of a token file without a head, as HDF5 describes it.
TokenLayout described_by_hdf5(std::filesystem::path const& path) {
  auto const file =
      H5File::open(path, Status::bad_input, "; `spillway tokenize` makes files of tokens");
  if (!file.has_attribute("/", "format") || file.text("/", "format") != token_format) {
    fail(Status::bad_input, path,
         "an HDF5 file, but not one of tokens; `spillway tokenize` makes them");
  }
  auto const version = file.integer("/", "version");
  if (version == token_format_version || version == masked_token_format_version)
    fail(Status::damaged, path, "its head is not what was written");
  if (version != 1) {
    fail(Status::bad_input, path,
         fmt::format("token format {} is not known to this build (it reads 1 to {})", version,
                     masked_token_format_version));
  }
  auto const [type, shape] = file.info(tokens_dataset);
  if (token_bytes(type) == 0 || shape.size() != 1) {
    fail(Status::bad_input, path, "/tokens: must be one row of uint8, uint16 or uint32");
  }
  TokenLayout layout{.kind = "HDF5",
                     .tokenizer = file.text("/", "tokenizer"),
                     .vocab = file.integer("/", "vocab"),
                     .count = shape[0],
                     .token_bytes = token_bytes(type)};
  if (layout.count > 0) layout.offset_bytes = place_of(file, tokens_dataset);
  if (file.has_attribute("/", "tokenizer_xxh3"))
    layout.tokenizer_checksum = file.text("/", "tokenizer_xxh3");
  if (layout.count > 0) find_mask(file, layout);
  if (!file.exists(document_starts_dataset)) return layout;
  auto const starts = file.info(document_starts_dataset);
  if (starts.type != H5Type::i64 || starts.shape.size() != 1)
    fail(Status::bad_input, path, "/document_starts: must be one row of int64");
  layout.documents = starts.shape[0];
  if (layout.documents > 0) layout.documents_offset_bytes = place_of(file, document_starts_dataset);
  return layout;
}

// HDF5 is called in a child process only, because damaged files can crash it.
TokenLayout read_hdf5(std::filesystem::path const& path) {
  auto const text = in_child(path, [&] { return to_json(described_by_hdf5(path)); });
  return token_layout_from_json(text, path.string());
}

TokenLayout read_layout(std::filesystem::path const& path, FileDescriptor const& file) {
  std::string beginning(kTokenHeadBytes, '\0');
  auto const got = read_fully(file.get(), std::as_writable_bytes(std::span(beginning)), 0);
  if (got.error != 0) fail(Status::storage, path, "cannot be read: " + error_text(got.error));
  if (got.done_bytes == 0) fail(Status::bad_input, path, "the file is empty");
  beginning.resize(static_cast<std::size_t>(got.done_bytes));
  if (has_token_head(beginning)) return read_token_head(beginning, path.string());
  std::array<std::int32_t, 256> header{};
  std::memcpy(header.data(), beginning.data(), std::min(beginning.size(), sizeof header));
  auto const* const kind = llmc_kind(header[0]);
  if (kind == nullptr) return read_hdf5(path);
  if (got.done_bytes < llmc_header_bytes) fail(Status::damaged, path, "cut short in its header");
  return read_llmc(path, *kind, header, size_bytes(file, path));
}

void require_inside(std::filesystem::path const& path, std::int64_t file_bytes,
                    std::int64_t offset_bytes, std::int64_t count, std::int64_t each_bytes) {
  if (count <= (file_bytes - offset_bytes) / each_bytes && offset_bytes <= file_bytes) return;
  fail(Status::damaged, path,
       fmt::format("cut short: {} bytes of at least {} x {} from {} on", file_bytes, count,
                   each_bytes, offset_bytes));
}

}  // namespace

TokenLayout read_token_layout(std::filesystem::path const& path) {
  auto const file = open_for_reading(path);
  auto layout = read_layout(path, file);
  if (layout.count <= 0) fail(Status::bad_input, path, "holds no tokens");
  auto const bytes = size_bytes(file, path);
  require_inside(path, bytes, layout.offset_bytes, layout.count, layout.token_bytes);
  require_inside(path, bytes, layout.documents_offset_bytes, layout.documents, 8);
  auto const pieces = div_ceil(layout.count * layout.token_bytes, kTokenPieceBytes);
  if (layout.checksums_offset_bytes > 0)
    require_inside(path, bytes, layout.checksums_offset_bytes, pieces, 8);
  if (layout.mask_offset_bytes > 0)
    require_inside(path, bytes, layout.mask_offset_bytes, layout.count, 1);
  if (layout.mask_checksums_offset_bytes > 0)
    require_inside(path, bytes, layout.mask_checksums_offset_bytes,
                   div_ceil(layout.count, kTokenPieceBytes), 8);
  return layout;
}

}  // namespace spillway
