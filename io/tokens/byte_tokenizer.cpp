#include "io/tokens/byte_tokenizer.hpp"

#include <algorithm>
#include <vector>

#include "io/tokens/text_files.hpp"
#include "io/tokens/token_writer.hpp"

namespace spillway {
namespace {

void append_file(TokenWriter& writer, TextFile const& file,
                 std::function<void(std::int64_t)> const& told) {
  TextReader reader(file);
  std::vector<std::byte> buffer(1 << 16);
  std::vector<std::int32_t> tokens;
  while (auto const bytes = reader.read(buffer)) {
    tokens.assign(bytes, 0);
    std::transform(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(bytes),
                   tokens.begin(),
                   [](std::byte byte) { return std::to_integer<std::int32_t>(byte); });
    writer.append(tokens);
    if (told) told(static_cast<std::int64_t>(bytes));
  }
}

}  // namespace

TokenizeResult tokenize_bytes(std::span<std::filesystem::path const> files, Output const& out,
                              bool separator, std::function<void(std::int64_t bytes)> const& told) {
  auto const texts = survey(files);
  std::int64_t tokens = 0;
  std::vector<std::int64_t> starts;
  for (auto const& file : texts.files) {
    starts.push_back(tokens);
    tokens += file.size_bytes + (separator ? 1 : 0);
  }
  TokenWriter writer(out, kByteTokenizer, separator ? 257 : 256, tokens, std::ssize(starts));
  for (auto const& file : texts.files) {
    append_file(writer, file, told);
    if (separator) writer.append(std::span(&byte_separator, 1));
  }
  writer.close(starts);
  return {tokens, std::ssize(starts), texts.empty_files};
}

}  // namespace spillway
