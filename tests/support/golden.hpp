// Reads the files that tests/goldens/make_*.py have written.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace spillway::test {

class Golden {
 public:
  explicit Golden(std::string const& stem);  // `stem` is the path without .txt or .bin

  // Returns one row of a tensor as doubles, or the whole tensor if `row` is -1.
  std::vector<double> values(std::string const& name, std::int64_t row = -1) const;
  double setting(std::string const& name) const { return std::stod(word(name)); }
  std::int64_t integer(std::string const& name) const {
    return static_cast<std::int64_t>(setting(name));
  }
  std::string const& word(std::string const& name) const { return m_settings.at(name); }
  bool has_setting(std::string const& name) const { return m_settings.contains(name); }
  bool has_tensor(std::string const& name) const { return m_tensors.contains(name); }

 private:
  struct Entry {
    std::string type;
    std::size_t offset = 0;  // in bytes
    std::vector<std::int64_t> shape;
  };
  std::map<std::string, Entry> m_tensors;
  std::map<std::string, std::string> m_settings;
  std::vector<char> m_bytes;
};

}  // namespace spillway::test
