// quantize_matrix FORM ROWS COLUMNS: reads so many floats from stdin, and writes to stdout the
// bytes of that matrix, quantized, and the floats that these stand for. quantized.py compares them
// with those of bitsandbytes.
#include <charconv>
#include <iostream>
#include <string_view>
#include <vector>

#include "base/spelling.hpp"
#include "kernels/formulas/quantizer.hpp"

namespace {

template <class T>
void write(std::vector<T> const& values) {
  std::cout.write(reinterpret_cast<char const*>(values.data()),
                  static_cast<std::streamsize>(values.size() * sizeof(T)));
}

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace spillway;
  if (argc != 4) return 2;
  auto const form = parse_word<Quantization>(argv[1]);
  if (!form || *form == Quantization::none) return 2;
  Quantized const quantized{*form, {number(argv[2]), number(argv[3])}};
  std::vector<float> elements(static_cast<std::size_t>(element_count(quantized.shape)));
  std::cin.read(reinterpret_cast<char*>(elements.data()),
                static_cast<std::streamsize>(elements.size() * sizeof(float)));
  if (!std::cin) return 2;
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(quantized_bytes(*form, quantized.rows(), quantized.columns()).all));
  Quantizer quantizer(quantized, [&](std::int64_t at, std::span<std::byte const> some) {
    std::copy(some.begin(), some.end(), bytes.begin() + at);
  });
  quantizer.add(elements);
  auto const element = elements_of(quantized, bytes);
  for (std::size_t i = 0; i < elements.size(); ++i)
    elements[i] = element(static_cast<std::int64_t>(i));
  write(bytes);
  write(elements);
}
