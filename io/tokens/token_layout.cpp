#include "io/tokens/token_layout.hpp"

#include <fmt/core.h>

#include <array>
#include <limits>

#include "base/error.hpp"
#include "io/h5/h5_file.hpp"
#include "io/tokens/token_format.hpp"

namespace spillway {
namespace {

constexpr std::int32_t llmc_magic = 20240520, llmc_version = 1;
constexpr std::int64_t llmc_header_bytes = 256 * sizeof(std::int32_t);
constexpr std::int64_t gpt2_vocab = 50257;  // the only tokenizer of version 1

[[noreturn]] void fail(Status status, std::filesystem::path const& path, std::string const& what) {
  throw Error(status, fmt::format("{}: {}", path.string(), what));
}

TokenLayout read_llmc(std::filesystem::path const& path, std::span<std::int32_t const> header) {
  if (header[1] != llmc_version) {
    fail(
        Status::bad_input, path,
        fmt::format("llm.c token file of version {}; version {} is read", header[1], llmc_version));
  }
  return {"llm.c", "gpt2", gpt2_vocab, header[2], 0, llmc_header_bytes, sizeof(std::uint16_t)};
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
    case H5Type::i64:
      return 0;
  }
  return 0;
}

TokenLayout read_hdf5(std::filesystem::path const& path) {
  auto const file = H5File::open(path, Status::bad_input);
  if (!file.has_attribute("/", "format") || file.text("/", "format") != token_format) {
    fail(Status::bad_input, path,
         "an HDF5 file, but not one of tokens; `spillway tokenize` makes them");
  }
  if (auto const version = file.integer("/", "version"); version != token_format_version) {
    fail(Status::bad_input, path,
         fmt::format("token format {} is not known to this build (it reads {})", version,
                     token_format_version));
  }
  auto const [type, shape] = file.info(tokens_dataset);
  TokenLayout layout{
      "HDF5", file.text("/", "tokenizer"),       file.integer("/", "vocab"), element_count(shape),
      0,      file.offset_bytes(tokens_dataset), token_bytes(type)};
  if (layout.token_bytes == 0 || shape.size() != 1) {
    fail(Status::bad_input, path, "/tokens: must be one row of uint8, uint16 or uint32");
  }
  if (layout.count > 0 && layout.offset_bytes < 0) {
    fail(Status::bad_input, path, "/tokens: must be contiguous (not chunked or compressed)");
  }
  if (file.exists(document_starts_dataset)) {
    layout.documents = element_count(file.info(document_starts_dataset).shape);
  }
  return layout;
}

TokenLayout read_layout(std::filesystem::path const& path, FileDescriptor const& file) {
  std::array<std::int32_t, 256> header{};
  auto const got = read_fully(file.get(), std::as_writable_bytes(std::span(header)), 0);
  if (got.done_bytes == 0 && got.error == 0) fail(Status::bad_input, path, "the file is empty");
  if (header[0] != llmc_magic) return read_hdf5(path);
  if (got.done_bytes < llmc_header_bytes) fail(Status::damaged, path, "cut short in its header");
  return read_llmc(path, header);
}

}  // namespace

TokenLayout read_token_layout(std::filesystem::path const& path) {
  auto const file = open_for_reading(path);
  auto layout = read_layout(path, file);
  if (layout.count <= 0) fail(Status::bad_input, path, "holds no tokens");
  if (layout.vocab < 1 || layout.vocab > std::numeric_limits<std::int32_t>::max()) {
    fail(Status::damaged, path, fmt::format("a vocabulary of {} is impossible", layout.vocab));
  }
  std::int64_t const end_bytes = layout.offset_bytes + layout.count * layout.token_bytes;
  if (auto const actual = size_bytes(file, path); actual < end_bytes) {
    fail(Status::damaged, path,
         fmt::format("cut short: {} bytes of at least {}", actual, end_bytes));
  }
  return layout;
}

}  // namespace spillway
