#include "tests/support/golden.hpp"

#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <sstream>
#include <stdexcept>

namespace spillway::test {
namespace {

template <class T>
std::vector<double> as_doubles(char const* at, std::size_t n) {
  std::vector<T> values(n);
  std::memcpy(values.data(), at, n * sizeof(T));
  return {values.begin(), values.end()};
}

}  // namespace

Golden::Golden(std::string const& stem) {
  std::ifstream index(stem + ".txt"), file(stem + ".bin", std::ios::binary);
  if (!index || !file) throw std::runtime_error("golden not found: " + stem);
  m_bytes.assign(std::istreambuf_iterator<char>(file), {});
  for (std::string line; std::getline(index, line);) {
    std::istringstream fields(line);
    std::string what, name;
    fields >> what >> name;
    if (what == "setting") {
      fields >> m_settings[name];
      continue;
    }
    auto& entry = m_tensors[name];
    fields >> entry.type >> entry.offset;
    for (std::int64_t extent; fields >> extent;) entry.shape.push_back(extent);
  }
}

std::vector<double> Golden::values(std::string const& name, std::int64_t row) const {
  auto const& entry = m_tensors.at(name);
  std::size_t const skipped = row < 0 ? 0 : 1;
  auto const n = static_cast<std::size_t>(
      std::accumulate(entry.shape.begin() + static_cast<std::ptrdiff_t>(skipped), entry.shape.end(),
                      std::int64_t{1}, std::multiplies{}));
  auto const first = row < 0 ? 0 : static_cast<std::size_t>(row) * n;
  auto const at = [&](std::size_t element_bytes) {
    auto const begin = entry.offset + first * element_bytes;
    if (begin + n * element_bytes > m_bytes.size()) throw std::out_of_range(name);
    return m_bytes.data() + begin;
  };
  if (entry.type == "f64") return as_doubles<double>(at(8), n);
  if (entry.type == "i32") return as_doubles<std::int32_t>(at(4), n);
  return as_doubles<float>(at(4), n);
}

}  // namespace spillway::test
