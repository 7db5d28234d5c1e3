#include "comm/gathered_texts.hpp"

#include <algorithm>
#include <span>

#include "comm/gathered.hpp"

namespace spillway {

std::vector<std::string> gathered_texts(Comm& comm, std::string_view mine) {
  auto const sizes = gathered(comm, mine.size());
  auto const most = std::ranges::max(sizes);
  std::vector<std::string> texts(sizes.size());
  if (most == 0) return texts;
  std::string padded(mine);
  padded.resize(most);
  std::vector<char> all(most * sizes.size());
  comm.all_gather_bytes(std::as_bytes(std::span(padded)), std::as_writable_bytes(std::span(all)));
  for (std::size_t rank = 0; rank < sizes.size(); ++rank)
    texts[rank].assign(all.data() + rank * most, sizes[rank]);
  return texts;
}

}  // namespace spillway
