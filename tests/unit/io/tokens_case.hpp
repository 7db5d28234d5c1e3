// What the tests of token files have in common: a directory, files by their tokens, and errors.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "io/tokens/token_file.hpp"
#include "io/tokens/token_writer.hpp"
#include "tests/support/in_directory.hpp"

namespace spillway::test {

// Tokens, which of them are learned, and where documents begin.
struct TokenContents {
  std::vector<std::int32_t> tokens;
  std::vector<std::uint8_t> mask;
  std::vector<std::int64_t> starts;
  bool operator==(TokenContents const&) const = default;
};

inline TokenContents contents_of(std::filesystem::path const& path) {
  TokenFile const file(path);
  TokenContents made;
  made.tokens.resize(static_cast<std::size_t>(file.count()));
  file.read(0, made.tokens);
  if (file.has_mask()) {
    made.mask.resize(made.tokens.size());
    file.read_mask(0, made.mask);
  }
  file.append_document_starts(0, file.count(), made.starts);
  return made;
}

class TokensTest : public InDirectory {
 protected:
  std::filesystem::path text_file(std::string const& name, std::string const& text) const {
    std::ofstream(m_dir / name, std::ios::binary) << text;
    return m_dir / name;
  }

  std::filesystem::path token_file(std::string const& name, std::int64_t vocab,
                                   std::vector<std::int32_t> const& tokens) const {
    TokenWriter writer(Output(m_dir / name), "test", vocab,
                       static_cast<std::int64_t>(tokens.size()), 1);
    writer.append(tokens);
    writer.close(std::array{std::int64_t{0}});
    return m_dir / name;
  }

  std::filesystem::path llmc_file(std::string const& name,
                                  std::vector<std::uint16_t> const& tokens) const {
    std::array<std::int32_t, 256> header{20240520, 1, static_cast<std::int32_t>(tokens.size())};
    std::ofstream file(m_dir / name, std::ios::binary);
    file.write(reinterpret_cast<char const*>(header.data()), 1024);
    file.write(reinterpret_cast<char const*>(tokens.data()),
               static_cast<std::streamsize>(2 * tokens.size()));
    return m_dir / name;
  }
};

}  // namespace spillway::test
