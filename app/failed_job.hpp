// Tells how a job ended that an exception has ended.
#pragma once

#include <exception>

#include "job/run_dir.hpp"
#include "train/summarize.hpp"
#include "train/trainer.hpp"

namespace spillway {

// Writes the row with the end and summary.json, and repeats the warnings. It asks no other rank,
// as these may be gone, and writes nothing where another job has taken the directory over. The
// `exit` of `parts` need not be set. Throws nothing.
void tell_failure(std::exception const& error, SummaryParts parts, Trainer& trainer,
                  RunDir const& dir) noexcept;

}  // namespace spillway
