#include "state/same_start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "base/checksum.hpp"
#include "comm/on_all_ranks.hpp"
#include "comm/require_same.hpp"
#include "config/difference.hpp"
#include "config/load.hpp"
#include "config/print.hpp"

namespace spillway {
namespace {

constexpr std::int64_t kCheckedElements = 1 << 16;

void add_text(StreamingChecksum& checksum, std::string const& text) {
  checksum.add(std::as_bytes(std::span(text)));
}

void add_masters(StreamingChecksum& checksum, ModelState& model) {
  std::vector<float> piece(kCheckedElements);
  for (auto const& chunk : model.chunks()) {
    if (chunk.is_shared_out()) continue;  // other ranks have other elements
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

std::string text_of(RunState const& state) {
  std::string text;
  for (auto const& [key, value] : to_texts(state)) text += key + "=" + value + "\n";
  return text;
}

}  // namespace

void require_same_config(Comm& comm, Config const& config) {
  require_same(comm, to_yaml(config), [&](auto const& first) {
    auto const there = parse_config(first, "rank 0's configuration", {}, elsewhere);
    return fmt::format(
        "this rank is given other keys than rank 0: {}; input file and keys must be the same for "
        "all ranks",
        fmt::join(differences(there, config, Scope::job), ", "));
  });
}

void require_same_checkpoint(Comm& comm, std::string const& checkpoint, RunState const* state) {
  require_same(comm, state == nullptr ? std::string() : text_of(*state), [&](auto const& first) {
    if (state == nullptr || first.empty())
      return fmt::format("{}: this rank finds {} checkpoint there, but rank 0 {}", checkpoint,
                         state == nullptr ? "no" : "a", state == nullptr ? "does" : "does not");
    return fmt::format(
        "{}: this rank finds another checkpoint there (of step {}) than rank 0; all ranks must see "
        "the same, or be given one by name",
        checkpoint, state->step);
  });
}

void require_same_start(Comm& comm, RunState state, std::string const& plan, ModelState& model) {
  if (comm.size() == 1) return;  // a single rank has no other rank to differ from
  StreamingChecksum checksum;
  add_text(checksum, text_of(state));
  add_text(checksum, plan);
  on_all_ranks(comm, [&] {
    add_masters(checksum, model);
    model.release();
  });
  require_same(comm, checksum_text(checksum.value()), [](auto const&) {
    return "this rank starts otherwise than rank 0; input file, build, run.dir and checkpoint "
           "must be the same for all ranks";
  });
}

}  // namespace spillway
