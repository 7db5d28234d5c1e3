// What ModelState does with parameters that are quantized.
#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "state/drawn_values.hpp"
#include "state/model_state.hpp"

namespace spillway {
namespace {

constexpr std::int64_t kWrittenAtOnce = std::int64_t{1} << 20;  // elements

}  // namespace

void ModelState::put_bytes(int chunk, std::int64_t begin, std::span<std::byte const> bytes) {
  auto& tensor = open(chunk).parameter;
  in_windows(begin, std::ssize(bytes), [&](std::int64_t at, std::int64_t size) {
    std::memcpy(tensor.at(begin + at, true), bytes.data() + at, static_cast<std::size_t>(size));
  });
}

void ModelState::write_quantized(int chunk, Parameter const& parameter, std::int64_t first,
                                 std::span<float const> from) {
  if (first == 0)
    m_quantizer.emplace(parameter.quantized,
                        [this, chunk, begin = parameter.view.offset](auto at, auto bytes) {
                          put_bytes(chunk, begin + at, bytes);
                        });
  check(m_quantizer && m_quantizer->given() == first, parameter.name,
        "a quantized parameter is not written in the order of its elements");
  m_quantizer->add(from);
  if (m_quantizer->is_complete()) m_quantizer.reset();
}

void ModelState::read_quantized(int chunk, Parameter const& parameter, std::int64_t first,
                                std::span<float> to) {
  auto const& [offset, bytes] = std::pair(parameter.view.offset, parameter.view.shape.front());
  std::vector<std::byte> all(static_cast<std::size_t>(bytes));
  auto& tensor = open(chunk).parameter;
  in_windows(offset, bytes, [&](std::int64_t at, std::int64_t size) {
    std::memcpy(all.data() + at, tensor.at(offset + at, false), static_cast<std::size_t>(size));
  });
  auto const element = elements_of(parameter.quantized, all);
  for (std::int64_t i = 0; i < std::ssize(to); ++i)
    to[static_cast<std::size_t>(i)] = element(first + i);
}

void ModelState::draw_quantized(int chunk, Parameter const& parameter, std::uint64_t seed,
                                std::uint64_t number) {
  auto const all = element_count(parameter.shape());
  std::vector<float> values(static_cast<std::size_t>(std::min(all, kWrittenAtOnce)));
  for (std::int64_t first = 0; first < all; first += kWrittenAtOnce) {
    auto const size = std::min(all - first, kWrittenAtOnce);
    std::span const piece(values.data(), static_cast<std::size_t>(size));
    fill_drawn(piece, parameter.init, {seed, number}, first);
    write_quantized(chunk, parameter, first, piece);
  }
}

}  // namespace spillway
