#include "comm/text_of_rank_0.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include "comm/gathered.hpp"

namespace spillway {

std::string text_of_rank_0(Comm& comm, std::string const& mine) {
  auto const size = gathered(comm, static_cast<std::int64_t>(mine.size())).front();
  std::vector<ByteSlice> slices(static_cast<std::size_t>(comm.size()), {size, 0});
  slices.front() = {0, size};
  auto first = mine;
  first.resize(static_cast<std::size_t>(size));
  comm.all_gather(std::as_writable_bytes(std::span(first)), slices);
  return first;
}

}  // namespace spillway
