// Says what chunks of one kind amount to in a step of one question.
#pragma once

#include "plan/bound/chunk_choices.hpp"

namespace spillway {

struct ChunkAmounts {
  ChunkAmounts(BoundQuestion const& question, ChunkKind const& kind)
      : is_awaited(question.norm_is_awaited),
        times(static_cast<double>(question.micro_batches)),
        ranks(static_cast<double>(question.ranks)),
        count(static_cast<double>(kind.chunks.size())),
        parameter_bytes(count * static_cast<double>(kind.work.parameter_bytes)),
        gradient_bytes(count * static_cast<double>(kind.work.gradient_bytes)),
        state_bytes(count * static_cast<double>(kind.work.state_bytes)),
        // Chunks that are read only behind the turn may be updated behind it.
        update_time(kind.work.read_before_turn ? When::update : When::anytime) {}

  bool is_awaited;                                      // says whether updates wait for the norm
  double times, ranks, count;                           // of micro-batches, ranks and chunks
  double parameter_bytes, gradient_bytes, state_bytes;  // of all these chunks, over all ranks
  When update_time;
};

}  // namespace spillway
