// Reads what tests/goldens/make_*.py wrote.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace spillway::test {

class Golden {
 public:
  explicit Golden(std::string const& stem);  // path of the .txt and .bin without their endings

  // One row of a tensor (all of it for `row` = -1) as doubles.
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
    std::size_t offset = 0;  // bytes
    std::vector<std::int64_t> shape;
  };
  std::map<std::string, Entry> m_tensors;
  std::map<std::string, std::string> m_settings;
  std::vector<char> m_bytes;
};

}  // namespace spillway::test
