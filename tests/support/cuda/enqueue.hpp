// Puts work into streams, and lets threads wait for its end.
#pragma once

#include "tests/support/cuda/order.hpp"
#include "tests/support/cuda/state.hpp"

namespace spillway::test::cuda {

// Appends a piece of work to a stream, checks that its accesses are ordered, and lets the device go
// on as far as the settings and the seed say.
void enqueue(State& all, int stream, Piece piece);

// Takes account of work that the caller has done itself, in place of a piece at the end of the
// stream. Checks that its accesses are ordered; the calling thread then knows that the stream's
// work has ended.
void note_done(State& all, int stream, Piece piece);

// finish() returns when a stream's work has ended, finish_all() when all work has, wait_for() when
// the record is done. query() returns cudaErrorNotReady if the record is not done. If what is asked
// for can never be done, these functions complain and return cudaErrorLaunchTimeout.
cudaError_t finish(State& all, int stream);
cudaError_t finish_all(State& all);
cudaError_t query(State& all, std::shared_ptr<Record> const& record);
cudaError_t wait_for(State& all, std::shared_ptr<Record> const& record);

// Complains if this thread need not know of the call that recorded the event, because it could then
// have met an earlier record.
void expect_recorded(State& all, Record const& record);

// Notes that the current call of CUDA refers to this record.
void note_use(State& all, Record& record);
// The current call records an event again; `record` is the event's earlier record. Complains if a
// call that referred to it is not ordered before the current call, since it could have met the new
// record.
void expect_unused(State& all, Record const& record);

// The program gives these bytes back. If work that has not ended touches them, complains and ends
// all work, because it would touch them later.
void end_work_on(State& all, AddressRange const& range, char const* what);

}  // namespace spillway::test::cuda
