#include <cmath>
#include <string>
#include <vector>

#include "base/checksum.hpp"
#include "base/error.hpp"
#include "comm/comm.hpp"
#include "runtime/bind.hpp"

namespace spillway {
namespace {

// A CommitEntry is what one rank brings to the commit, or the sums over all ranks.
struct CommitEntry {
  double loss_sum = 0, weight_sum = 0, norm_squared = 0;
  std::uint64_t norms_checksum = 0;  // the checksum of the squared norms of all chunks and slices
  std::int64_t storage_failed = 0, state_lost = 0;
  RankNote note;
};

using Doubles = std::array<std::span<double>, 2>;

// Returns both versions of the scalars in `tensor`, or empty spans if it is not an operand of the
// item.
Doubles scalars(EngineParts const& parts, Item const& item, TensorId tensor) {
  Doubles result;
  for (std::size_t i = 0; i < item.operands.size(); ++i) {
    auto const& buffer = operand(parts.program, item, i);
    if (tensor < 0 || buffer.tensor != tensor) continue;
    auto const& shape = parts.program.tensors[static_cast<std::size_t>(tensor)].shape;
    auto const bytes = versions(parts.tiers, buffer);
    for (std::size_t v = 0; v < 2; ++v) {
      result[v] = {reinterpret_cast<double*>(bytes[v].data()),
                   static_cast<std::size_t>(element_count(shape))};
    }
  }
  return result;
}

std::size_t columns_of_norms(Program const& program) {
  if (program.known.norms < 0) return 1;
  auto const& shape = program.tensors[static_cast<std::size_t>(program.known.norms)].shape;
  return shape.size() == 2 ? static_cast<std::size_t>(shape[1]) : 1;
}

// Runs a commit, or the report of norms that the commit did not know. A report writes no control
// words, so updates do not depend on it.
class Commit {
 public:
  Commit(EngineParts const& parts, std::atomic<bool>& state_lost, Item const& item)
      : m_comm(parts.comm),
        m_policy(parts.commit),
        m_note(parts.note),
        m_state_lost(state_lost),
        m_reports(item.kind == ItemKind::report),
        m_loss(scalars(parts, item, parts.program.known.loss)),
        m_norms(scalars(parts, item, parts.program.known.norms)),
        m_control(scalars(parts, item, parts.program.known.control)),
        m_columns(columns_of_norms(parts.program)),
        m_entries(static_cast<std::size_t>(parts.comm.size())) {}

  void operator()(ItemContext const& now) {
    auto const version = static_cast<std::size_t>(now.parity);
    auto& record = *now.record;
    auto const own = own_entry(version, record);
    m_comm.all_gather_bytes(std::as_bytes(std::span(&own, 1)),
                            std::as_writable_bytes(std::span(m_entries)));
    auto const flags = add_up(now.step, record);
    bool const void_step = m_reports && record.decision.word != CommitWord::go;
    if (void_step) return;
    if (!flags.storage_failed && !flags.state_lost) refuse_ranks_apart(now.step);
    decide(flags, record);
    if (m_reports) return;
    if (record.failures.decide(record.decision.word == CommitWord::go)) m_state_lost = true;
    auto const control = m_control[version];
    for (std::size_t i = 0; i < control.size(); ++i) control[i] = record.decision.control[i];
  }

 private:
  CommitEntry own_entry(std::size_t version, StepRecord& record) const {
    CommitEntry entry;
    if (auto const loss = m_loss[version]; loss.size() == 2) {
      entry.loss_sum = loss[0];
      entry.weight_sum = loss[1];
    }
    entry.norm_squared = sum_of_norms(m_norms[version]);
    entry.norms_checksum = checksum(std::as_bytes(m_norms[version]));
    entry.storage_failed = !m_reports && record.failures.close_for_commit() ? 1 : 0;
    entry.state_lost = m_state_lost ? 1 : 0;
    if (m_note) entry.note = m_note();
    return entry;
  }

  // `norms` has the shape [chunks, slices]. The norms of slices with the same number are added
  // first, and then these sums in the order of numbers, so all ranks get the same bits.
  double sum_of_norms(std::span<double const> norms) const {
    double total = 0;
    for (std::size_t number = 0; number < m_columns; ++number) {
      double of_slices = 0;
      for (auto i = number; i < norms.size(); i += m_columns) of_slices += norms[i];
      total += of_slices;
    }
    return total;
  }

  // Throws Error(damaged) if norms differ between ranks. Gradients that were reduced have the same
  // bits on all ranks, and so have their norms, unless a machine has damaged its copy.
  void refuse_ranks_apart(std::int64_t step) const {
    auto const& first = m_entries[0];
    for (auto const& entry : m_entries) {
      bool const no_numbers = std::isnan(entry.norm_squared) && std::isnan(first.norm_squared);
      if (entry.norms_checksum == first.norms_checksum || no_numbers) continue;
      throw Error(Status::damaged, "step " + std::to_string(step) +
                                       ": ranks hold different gradients; check the memory of the "
                                       "machines and start again from the last checkpoint");
    }
  }

  CommitEntry add_up(std::int64_t step, StepRecord& record) const {
    CommitEntry all;
    for (std::size_t rank = 0; rank < m_entries.size(); ++rank) {
      auto const& entry = m_entries[rank];
      all.loss_sum += entry.loss_sum;
      all.weight_sum += entry.weight_sum;
      all.storage_failed |= entry.storage_failed;
      all.state_lost |= entry.state_lost;
      all.note.join(entry.note);
      add_wait(record.waits, rank, entry.note.wait);
    }
    record.sums = {step, all.loss_sum, all.weight_sum, m_entries[0].norm_squared};
    return all;
  }

  void decide(CommitEntry const& flags, StepRecord& record) const {
    auto& decision = record.decision;
    decision = {};
    if (!m_reports) record.note = {};
    record.note.join(flags.note);
    if (flags.state_lost || flags.storage_failed) {
      decision.word = flags.state_lost ? CommitWord::state_lost : CommitWord::storage_error;
      return;
    }
    if (m_reports || !m_control[0].empty()) decision = m_policy(record.sums);
    decision.control[control_go] = decision.word == CommitWord::go ? 1 : 0;
  }

  Comm& m_comm;
  CommitPolicy m_policy;
  std::function<RankNote()> m_note;
  std::atomic<bool>& m_state_lost;
  bool m_reports;
  Doubles m_loss, m_norms, m_control;
  std::size_t m_columns;  // how many columns the norms have
  std::vector<CommitEntry> m_entries;
};

}  // namespace

Action bind_commit(EngineParts const& parts, std::atomic<bool>& state_lost, Item const& item) {
  return Commit(parts, state_lost, item);
}

}  // namespace spillway
