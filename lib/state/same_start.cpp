#include "state/same_start.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "base/checksum.hpp"
#include "comm/gathered.hpp"
#include "comm/on_all_ranks.hpp"

namespace spillway {
namespace {

constexpr std::int64_t kCheckedElements = 1 << 16;

void add_text(StreamingChecksum& checksum, std::string const& text) {
  checksum.add(std::as_bytes(std::span(text)));
}

void add_masters(StreamingChecksum& checksum, ModelState& model) {
  std::vector<float> piece(kCheckedElements);
  for (auto const& chunk : model.chunks()) {
    for (std::size_t p = 0; p < chunk.parameters.size(); ++p) {
      auto const elements = element_count(chunk.parameters[p].view.shape);
      for (std::int64_t first = 0; first < elements; first += kCheckedElements) {
        auto const size = static_cast<std::size_t>(std::min(kCheckedElements, elements - first));
        std::span const values(piece.data(), size);
        model.read(kMaster, chunk.id, static_cast<int>(p), first, values);
        checksum.add(std::as_bytes(values));
      }
    }
  }
}

}  // namespace

void require_same_start(Comm& comm, RunState state, std::string const& plan, ModelState& model) {
  if (comm.size() == 1) return;  // a single rank has no other rank to differ from
  StreamingChecksum checksum;
  for (auto const& [key, text] : to_texts(state)) add_text(checksum, key + "=" + text);
  add_text(checksum, plan);
  on_all_ranks(comm, [&] {
    add_masters(checksum, model);
    model.release();
  });
  auto const all = gathered(comm, checksum.value());
  on_all_ranks(comm, [&] {
    if (all[0] == all[static_cast<std::size_t>(comm.rank())]) return;
    throw Error(Status::bad_input,
                "this rank starts otherwise than rank 0; input file, build, run.dir and checkpoint "
                "must be the same for all ranks");
  });
}

}  // namespace spillway
