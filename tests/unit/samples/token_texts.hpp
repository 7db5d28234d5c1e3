// Token files for the tests of this folder.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "io/tokens/token_writer.hpp"

namespace spillway::test {

class TokenTexts : public testing::Test {
 protected:
  TokenTexts()
      : m_dir(std::filesystem::temp_directory_path() /
              ("token_texts_" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(m_dir);
  }
  ~TokenTexts() override { std::filesystem::remove_all(m_dir); }

  std::string path(std::string const& name) const { return m_dir / name; }

  // The path of a file that holds `count` tokens, from 0 round the vocabulary.
  std::string write(std::string const& name, std::int64_t count, std::int32_t vocab,
                    std::vector<std::int64_t> const& starts = {0}) const {
    std::vector<std::int32_t> tokens;
    for (std::int64_t i = 0; i < count; ++i) tokens.push_back(static_cast<std::int32_t>(i % vocab));
    auto const file = path(name + ".h5");
    TokenWriter writer(Output(file), "none", vocab, count, std::ssize(starts));
    writer.append(tokens);
    writer.close(starts);
    return file;
  }

  std::filesystem::path m_dir;
};

}  // namespace spillway::test
