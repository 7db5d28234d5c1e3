// encode_texts TOKENIZER: reads texts from stdin, each behind its number of bytes (uint64), and
// writes for each, to stdout, its ids and what becomes of these as text, with and without special
// tokens: each behind its number (uint32). tokenizers.py compares them with those of others.
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "tokenizer/open_tokenizer.hpp"

namespace {

template <class Count>
void write(Count count, void const* bytes, std::size_t size) {
  std::cout.write(reinterpret_cast<char const*>(&count), sizeof count);
  std::cout.write(static_cast<char const*>(bytes), static_cast<std::streamsize>(size));
}

void write_text(std::string const& text) {
  write(static_cast<std::uint32_t>(text.size()), text.data(), text.size());
}

void run(spillway::Tokenizer const& tokenizer) {
  auto const encoder = tokenizer.encoder();
  std::vector<std::int32_t> ids;
  std::uint64_t bytes = 0;
  while (std::cin.read(reinterpret_cast<char*>(&bytes), sizeof bytes)) {
    std::string text(bytes, '\0');
    std::cin.read(text.data(), static_cast<std::streamsize>(bytes));
    ids.clear();
    encoder->encode(text, ids);
    write(static_cast<std::uint32_t>(ids.size()), ids.data(), ids.size() * sizeof ids[0]);
    write_text(tokenizer.decode(ids, true));
    write_text(tokenizer.decode(ids, false));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ios::sync_with_stdio(false);
  try {
    run(*spillway::open_tokenizer(argv[1]));
  } catch (spillway::Error const& error) {
    std::cerr << error.what() << "\n";
    return static_cast<int>(error.status());
  }
}
