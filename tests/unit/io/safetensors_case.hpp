// What the tests of safetensors files have in common: a directory, files made by hand, and errors.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.hpp"
#include "tests/support/in_directory.hpp"

namespace spillway::test {

// A file whose header is this text, and whose data are these bytes.
inline std::string safetensors_bytes(std::string const& json, std::string const& data) {
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(json.size() >> (8 * i));
  return bytes + json + data;
}

class SafetensorsCase : public InDirectory {
 protected:
  void put(std::string const& name, std::string const& bytes) const {
    std::ofstream(m_dir / name, std::ios::binary) << bytes;
  }
  std::string get(std::string const& name) const {
    std::ifstream file(m_dir / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // `action` ends with this status, and its one line has each of these words.
  template <class F>
  static void expect_error(F const& action, Status status,
                           std::initializer_list<std::string> words) {
    auto const error = error_of(action);
    std::string const line = error.what();
    EXPECT_EQ(error.status(), status) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    for (auto const& word : words) EXPECT_NE(line.find(word), std::string::npos) << line;
  }
};

}  // namespace spillway::test
