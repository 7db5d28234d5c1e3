// A BatchShape says how the sequences of a step are spread over ranks and micro-batches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"

namespace spillway {

// Micro-batches are numbered through a step: by their number on their rank, and among those with
// the same number by rank. Sample s of a step goes to micro-batch s / micro. If the samples do not
// fill all micro-batches, the other places have weight zero and are called empty.
struct BatchShape {
  std::int64_t sequences = 0;  // samples in a step, over all ranks
  std::int64_t micro = 0;      // sequences in a micro-batch of one rank
  std::int64_t rank = 0, ranks = 1;
  // How many micro-batches each rank runs. If empty, all ranks run the same number.
  std::vector<std::int64_t> counts = {};

  // These functions return the number of micro-batches of this rank, and of a rank that has most.
  std::int64_t micro_batches() const;
  std::int64_t most_micro_batches() const;
  // Returns the other numbers that ranks have, each once. If there are none, ranks are even.
  std::vector<std::int64_t> fewer() const;
  // Returns how many places for sequences all ranks have in a step.
  std::int64_t places() const;
  double filled() const {  // the share of places that hold text
    return static_cast<double>(sequences) / static_cast<double>(places());
  }
  // Returns the share of places that would hold text if all ranks ran as many as a rank with most.
  double filled_of_most() const;
  // Returns which sample of the step is sequence `place` of this rank's micro-batch, or nothing if
  // the step has no more samples.
  std::optional<std::int64_t> sample(std::int64_t micro_batch, std::int64_t place) const;
};

// Parts the step that `batch` asks for. Throws Error(bad_input), which names batch.share, if that
// is a list for another number of ranks or leaves a rank without a micro-batch.
BatchShape batch_shape(BatchConfig const& batch, std::int64_t micro, std::int64_t rank,
                       std::int64_t ranks);

// Returns a line that says how many micro-batches ranks run, or "" if they share equally.
std::string describe_share(BatchShape const& shape);
// Returns a line such as "8 of 24 rows of a step are empty ...", which names a micro-batch that
// leaves fewer places empty, or "" if no place is. The line calls them rows.
std::string describe_empty_rows(BatchShape const& shape);

// Returns the most sequences that a micro-batch may have so that every rank can run one.
std::int64_t largest_micro(BatchConfig const& batch, std::int64_t ranks);
// Returns the micro-batch with which ranks work least on empty places, or wait least for a rank
// that has more than its share, of those that have at most `most` sequences and at least half as
// many. Of equally good ones it is the largest.
std::int64_t fullest_micro(BatchConfig const& batch, std::int64_t ranks, std::int64_t most);

}  // namespace spillway
