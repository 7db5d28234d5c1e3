#include "tests/support/cuda/enqueue.hpp"

#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "base/allocator_pass.hpp"
#include "tests/support/cuda/complaints.hpp"
#include "tests/support/cuda/launched_op.hpp"
#include "tests/support/ptx/memory.hpp"

namespace spillway::test::cuda {
namespace {

thread_local std::shared_ptr<PieceMarks> t_marks;

void mark(State& all, QueuedStream& stream, Piece& piece) {
  if (piece.kind == Piece::Kind::record || piece.kind == Piece::Kind::wait) return;
  auto const begin = stream.clock.mark(), end = stream.clock.mark();
  for (auto const& access : piece.accesses) {
    if (!all.memory.is_of(stream.device, access.range))
      complain(fmt::format("{} on device {} touches memory of another device", piece.label,
                           stream.device));
    auto const device = is_device(all, access.range);
    if (device ? all.settings.watches_device_memory : all.pinned.holds(access.range))
      all.accesses.add(access, begin, end, piece.label);
  }
  if (piece.is_aside) return;
  piece.marks = t_marks;
  if (!t_marks) return;
  if (t_marks->begin.component < 0) t_marks->begin = begin;
  t_marks->end = end;
}

cudaError_t hopeless(char const* what) {
  complain(std::string("deadlock: nothing can go on, and somebody waits for ") + what);
  return cudaErrorLaunchTimeout;
}

}  // namespace

void expect_recorded(State& all, Record const& record) {
  if (!this_thread(all).knows(record.asked))
    complain("an event is asked for whose record this thread need not know of");
}

void note_use(State& all, Record& record) {
  auto const now = this_thread(all).mark();
  record.uses[now.component] = now.time;
}

void expect_unused(State& all, Record const& record) {
  for (auto const& [component, time] : record.uses)
    if (this_thread(all).clock().at(component) < time)
      complain("an event is recorded again while somebody may still mean its earlier record");
}

void enqueue(State& all, int id, Piece piece) {
  auto& stream = *all.queues.stream(id);
  stream.clock.acquire(this_thread(all).release());
  if (*doing() != '\0') piece.label = doing();
  if (auto const error = all.faults.error_of_kernel(); error && piece.kind == Piece::Kind::kernel)
    piece.run = [&all, error] { all.faults.fail(*error); };
  if (auto* const op = launched_op()) add_to(*op, all, piece);
  mark(all, stream, piece);
  if (piece.kind == Piece::Kind::wait) stream.clock.acquire(piece.record->mark.before);
  if (piece.kind == Piece::Kind::record) piece.record->mark = stream.clock.mark();
  stream.pieces.push_back(std::move(piece));
  auto const most = all.queues.decisions_after_enqueue();
  if (most == 0) return;
  Scheduler::Demand demand{.met = [&] { return all.queues.idle(); }, .most = most, .wanted = id};
  all.scheduler.serve(demand);
}

void note_done(State& all, int id, Piece piece) {
  auto& stream = *all.queues.stream(id);
  auto& clock = stream.clock;
  clock.acquire(this_thread(all).release());
  mark(all, stream, piece);
  if (piece.marks && piece.marks->begun == 0) piece.marks->begun = moment();
  this_thread(all).acquire(clock.release());
}

cudaError_t finish(State& all, int id) {
  auto const empty = [&] {
    auto const* const stream = all.queues.stream(id);
    return stream == nullptr || stream->pieces.empty();
  };
  Scheduler::Demand demand{.met = empty, .wanted = id};
  if (!empty()) all.scheduler.serve(demand);
  if (!empty()) return hopeless("the end of a stream");
  if (auto* const stream = all.queues.stream(id)) this_thread(all).acquire(stream->clock.release());
  return cudaSuccess;
}

cudaError_t finish_all(State& all) {
  Scheduler::Demand demand{.met = [&] { return all.queues.idle(); }};
  all.scheduler.serve(demand);
  if (!all.queues.idle()) return hopeless("the end of all work");
  for (auto& [id, stream] : all.queues.streams()) this_thread(all).acquire(stream.clock.release());
  return cudaSuccess;
}

cudaError_t wait_for(State& all, std::shared_ptr<Record> const& record) {
  Scheduler::Demand demand{.met = [&] { return record->done; }, .wanted = record->stream};
  all.scheduler.serve(demand);
  expect_recorded(all, *record);
  if (!record->done) return hopeless("an event");
  this_thread(all).acquire(record->mark.before);
  return cudaSuccess;
}

cudaError_t query(State& all, std::shared_ptr<Record> const& record) {
  if (!record->done) {
    Scheduler::Demand demand{.met = [&] { return record->done; },
                             .most = all.queues.decisions_of_query(),
                             .wanted = record->stream};
    all.scheduler.serve(demand);
    if (demand.none_can_go_on && !record->done) return hopeless("an event");
  }
  expect_recorded(all, *record);
  if (!record->done) return cudaErrorNotReady;
  this_thread(all).acquire(record->mark.before);
  return cudaSuccess;
}

void end_work_on(State& all, AddressRange const& range, char const* what) {
  if (range.bytes == 0 || !all.queues.touches(range)) return;
  complain(std::string(what) + " while work is under way that touches it");
  Scheduler::Demand demand{.met = [&] { return all.queues.idle(); }};
  all.scheduler.serve(demand);
  all.queues.drop_work();
}

std::uint64_t moment() {
  static std::atomic<std::uint64_t> latest = 0;
  return ++latest;
}

Mark mark_here() {
  AllocatorPass const pass;
  auto& all = state();
  std::scoped_lock const lock(all.mutex);
  return this_thread(all).mark();
}

void learn(Mark const& mark) {
  AllocatorPass const pass;
  auto& all = state();
  std::scoped_lock const lock(all.mutex);
  this_thread(all).acquire(mark.before);
}

std::shared_ptr<PieceMarks const> mark_pieces(std::string label) {
  AllocatorPass const pass;
  t_marks = std::make_shared<PieceMarks>(PieceMarks{std::move(label), {}, {}});
  return t_marks;
}

void mark_no_more_pieces() {
  t_marks.reset();
}

void host_access(std::span<std::byte const> bytes, bool is_write) {
  AllocatorPass const pass;
  auto& all = state();
  std::scoped_lock const lock(all.mutex);
  auto const range = range_of(bytes.data(), std::ssize(bytes));
  if (!all.pinned.holds(range)) return;
  if (is_write) set_states(reachable_bytes(all, range), ptx::kKnown);
  auto const now = this_thread(all).mark();
  all.accesses.add({range, is_write}, now, now, *doing() == '\0' ? "the host" : doing());
}

}  // namespace spillway::test::cuda
