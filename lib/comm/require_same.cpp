#include "comm/require_same.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include "comm/gathered.hpp"
#include "comm/on_all_ranks.hpp"

namespace spillway {
namespace {

std::string text_of_rank_0(Comm& comm, std::string const& mine) {
  auto const size = gathered(comm, static_cast<std::int64_t>(mine.size())).front();
  std::vector<ByteSlice> slices(static_cast<std::size_t>(comm.size()), {size, 0});
  slices.front() = {0, size};
  auto first = mine;
  first.resize(static_cast<std::size_t>(size));
  comm.all_gather(std::as_writable_bytes(std::span(first)), slices);
  return first;
}

}  // namespace

void require_same(Comm& comm, std::string const& text,
                  std::function<std::string(std::string const& first)> const& why) {
  if (comm.size() == 1) return;  // a single rank has no other rank to differ from
  auto const first = text_of_rank_0(comm, text);
  on_all_ranks(comm, [&] {
    if (text != first) throw Error(Status::bad_input, why(first));
  });
}

}  // namespace spillway
