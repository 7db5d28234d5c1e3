// How work comes into a stream, and how threads wait for it.
#pragma once

#include "tests/support/cuda/order.hpp"
#include "tests/support/cuda/state.hpp"

namespace spillway::test::cuda {

// Makes accesses by pieces known to each other, then lets the device go on as the seed says.
void enqueue(State& all, int stream, Piece piece);

// The same of work that the caller has done itself, at the end of the stream's.
void note_done(State& all, int stream, Piece piece);

// Return when the stream's work, all work, or the record is done; the record perhaps sooner. A
// device that can never get there returns cudaErrorLaunchTimeout, with a complaint.
cudaError_t finish(State& all, int stream);
cudaError_t finish_all(State& all);
cudaError_t query(State& all, std::shared_ptr<Record> const& record);

// Complains if this thread need not know that the event was recorded: it might mean an earlier
// record of it.
void expect_recorded(State& all, Record const& record);

// Notes that this thread means this record, in a call that is under way.
void note_use(State& all, Record& record);
// Complains if one who has meant this record need not have come before this thread, which records
// the event again: he might as well have met the new record.
void expect_unused(State& all, Record const& record);

// Complains if work touches bytes that are given back, and ends it, as it would touch them later.
void end_work_on(State& all, Range const& range, char const* what);

}  // namespace spillway::test::cuda
