#include "plan/draft.hpp"

namespace spillway {

namespace {

Lane update_lane(Plan const& plan, int chunk) {
  bool const on_host = plan.chunks[static_cast<std::size_t>(chunk)].update == Tier::host;
  return on_host ? Lane::host : Lane::compute;
}

}  // namespace

void schedule_update(Draft& draft) {
  auto const run_all = [&](OpKind kind) {
    for (Op const& op : draft.graph.ops) {
      if (op.phase != Phase::update || op.kind != kind) continue;
      bool const updates = kind == OpKind::adamw;
      draft.writer.run(op.id, updates ? update_lane(draft.plan, op.chunk) : Lane::compute);
    }
  };
  run_all(OpKind::square_norm);
  draft.writer.commit();
  run_all(OpKind::adamw);  // in chunk order, which is the order the next forward needs them in
}

}  // namespace spillway
