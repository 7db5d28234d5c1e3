#include "comm/require_same.hpp"

#include "comm/on_all_ranks.hpp"
#include "comm/text_of_rank_0.hpp"

namespace spillway {

void require_same(Comm& comm, std::string const& text,
                  std::function<std::string(std::string const& first)> const& why) {
  if (comm.size() == 1) return;  // a single rank has no other rank to differ from
  auto const first = text_of_rank_0(comm, text);
  on_all_ranks(comm, [&] {
    if (text != first) throw Error(Status::bad_input, why(first));
  });
}

}  // namespace spillway
