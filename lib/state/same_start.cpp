#include "state/same_start.hpp"

#include <fmt/format.h>

#include <span>

#include "base/checksum.hpp"
#include "comm/require_same.hpp"
#include "config/difference.hpp"
#include "config/load.hpp"
#include "config/print.hpp"

namespace spillway {
namespace {

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

void require_same_start(Comm& comm, StartedModel const& start, std::string const& plan) {
  auto const text = text_of(start.state) + plan + start.weights;
  auto const sum = checksum_text(checksum(std::as_bytes(std::span(text))));
  require_same(comm, sum, [](auto const&) {
    return "this rank starts otherwise than rank 0; input file, build, run.dir and checkpoint "
           "must be the same for all ranks";
  });
}

}  // namespace spillway
