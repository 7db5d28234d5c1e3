// Puts work into streams, and lets threads wait for its end.
#pragma once

#include "tests/support/cuda/order.hpp"
#include "tests/support/cuda/state.hpp"

namespace spillway::test::cuda {

// Appends a piece of work to a stream, checks its accesses, and lets the device go on as far as the
// seed says.
void enqueue(State& all, int stream, Piece piece);

// Does the same for work at the end of the stream that the caller has already done itself.
void note_done(State& all, int stream, Piece piece);

// These return when a stream's work, all work or a record is done; `query` may return
// cudaErrorNotReady before. If the device can never get there, they complain and return
// cudaErrorLaunchTimeout.
cudaError_t finish(State& all, int stream);
cudaError_t finish_all(State& all);
cudaError_t query(State& all, std::shared_ptr<Record> const& record);

// Complains if this thread cannot know that the event was recorded, because it might then ask for
// an earlier record.
void expect_recorded(State& all, Record const& record);

// Notes that the call under way refers to this record.
void note_use(State& all, Record& record);
// Complains if an earlier call that referred to this record is not ordered before the present call,
// which records the event again: that call could have met the new record.
void expect_unused(State& all, Record const& record);

// Complains if work touches bytes that are given back, and ends all work, which would touch them
// later.
void end_work_on(State& all, AddressRange const& range, char const* what);

}  // namespace spillway::test::cuda
