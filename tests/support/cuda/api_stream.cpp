// Implements streams and events of CUDA's runtime API.
#include <cuda_runtime_api.h>

#include "tests/support/cuda/call.hpp"

namespace cuda = spillway::test::cuda;
using cuda::call;
using cuda::call_that_enqueues;
using cuda::number;
using cuda::Piece;
using cuda::State;

namespace {

// The least priority is not 0, because streams for which the program chooses no priority have 0.
constexpr int kLeastPriority = 1, kGreatestPriority = -5;

cudaStream_t add_stream(State& all, bool blocks) {
  auto const device = cuda::thread_state().device;
  return cuda::handle_of<cudaStream_t>(all.queues.add_stream(device, all.next_component++, blocks));
}

cudaError_t no_such_event() {
  return cuda::refuse(cudaErrorInvalidResourceHandle, "an event that does not exist");
}

}  // namespace

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call("cudaDeviceGetStreamPriorityRange", [&](State&) {
    *least = kLeastPriority;
    *greatest = kGreatestPriority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return call("cudaStreamCreateWithPriority", [&](State& all) {
    if (flags != cudaStreamDefault && flags != cudaStreamNonBlocking) return cudaErrorInvalidValue;
    if (priority > kLeastPriority || priority < kGreatestPriority)
      cuda::complain("a stream of a priority that the device does not have");
    all.priorities.push_back(priority);
    *stream = add_stream(all, flags == cudaStreamDefault);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return call("cudaStreamCreate", [&](State& all) {
    *stream = add_stream(all, true);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call(
      "cudaStreamDestroy",
      [&](State& all) {
        auto const* const queue = all.queues.stream(number(stream));
        if (queue == nullptr) return cuda::no_such_stream();
        cuda::expect_chosen(queue->device, "a stream");
        if (!all.faults.sticky() && !cuda::this_thread(all).knows_all_of(queue->clock))
          cuda::complain("a stream is destroyed, and nobody has waited for its work");
        auto const result = cuda::finish(all, number(stream));
        all.queues.remove_stream(number(stream));
        return result;
      },
      cuda::Gives::back);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call("cudaStreamSynchronize", [&](State& all) {
    auto const* const queue = all.queues.stream(number(stream));
    if (queue == nullptr) return cuda::no_such_stream();
    cuda::expect_chosen(queue->device, "a stream");
    if (queue->pieces.empty() && cuda::this_thread(all).knows_all_of(queue->clock))
      cuda::note_needless(all, "cudaStreamSynchronize");
    return cuda::finish(all, number(stream));
  });
}

// The stream waits for the event's latest record at the time of this call, or for nothing if the
// event was never recorded.
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return call("cudaStreamWaitEvent", [&](State& all) {
    auto const* const recorded = all.queues.event(number(event));
    auto const* const queue = all.queues.stream(number(stream));
    if (queue == nullptr) return cuda::no_such_stream();
    if (recorded == nullptr) return no_such_event();
    cuda::expect_chosen(queue->device, "a stream");
    if (flags != 0) return cudaErrorInvalidValue;
    if (!recorded->latest) return cudaSuccess;
    cuda::expect_recorded(all, *recorded->latest);
    cuda::note_use(all, *recorded->latest);
    Piece piece{.kind = Piece::Kind::wait, .label = "wait", .record = recorded->latest};
    cuda::enqueue(all, number(stream), std::move(piece));
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call("cudaEventCreateWithFlags", [&](State& all) {
    if ((flags & ~(cudaEventBlockingSync | cudaEventDisableTiming)) != 0)
      return cudaErrorInvalidValue;
    auto const timed = (flags & cudaEventDisableTiming) == 0;
    *event = cuda::handle_of<cudaEvent_t>(all.queues.add_event(cuda::thread_state().device, timed));
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call(
      "cudaEventDestroy",
      [&](State& all) {
        auto const* const recorded = all.queues.event(number(event));
        if (recorded == nullptr) return no_such_event();
        cuda::expect_chosen(recorded->device, "an event");
        all.queues.remove_event(number(event));
        return cudaSuccess;
      },
      cuda::Gives::back);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call_that_enqueues("cudaEventRecord", [&](State& all, bool stuck) {
    auto* const recorded = all.queues.event(number(event));
    auto const* const queue = all.queues.stream(number(stream));
    if (queue == nullptr) return cuda::no_such_stream();
    if (recorded == nullptr) return no_such_event();
    if (queue->device != recorded->device)
      return cuda::refuse(cudaErrorInvalidResourceHandle, "an event of another device");
    cuda::expect_chosen(queue->device, "a stream");
    if (recorded->latest) cuda::expect_unused(all, *recorded->latest);
    recorded->latest = std::make_shared<cuda::Record>();
    recorded->latest->stream = number(stream);
    recorded->latest->asked = cuda::this_thread(all).mark();
    Piece piece{
        .kind = Piece::Kind::record, .label = "record", .record = recorded->latest, .stuck = stuck};
    cuda::enqueue(all, number(stream), std::move(piece));
    return cudaSuccess;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call("cudaEventSynchronize", [&](State& all) {
    auto const* const recorded = all.queues.event(number(event));
    if (recorded == nullptr) return no_such_event();
    cuda::expect_chosen(recorded->device, "an event");
    if (!recorded->latest) return cudaSuccess;
    cuda::note_use(all, *recorded->latest);
    return cuda::wait_for(all, std::shared_ptr(recorded->latest));
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call("cudaEventQuery", [&](State& all) {
    auto const* const recorded = all.queues.event(number(event));
    if (recorded == nullptr) return no_such_event();
    cuda::expect_chosen(recorded->device, "an event");
    if (!recorded->latest) return cudaSuccess;
    cuda::note_use(all, *recorded->latest);
    return cuda::query(all, std::shared_ptr(recorded->latest));
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call("cudaEventElapsedTime", [&](State& all) {
    auto const* const from = all.queues.event(number(start));
    auto const* const to = all.queues.event(number(end));
    if (from == nullptr || to == nullptr) return no_such_event();
    if (!from->timed || !to->timed || !from->latest || !to->latest)
      return cuda::refuse(cudaErrorInvalidResourceHandle, "an event that has no time");
    if (!from->latest->done || !to->latest->done) return cudaErrorNotReady;
    auto const& thread = cuda::this_thread(all);
    if (!thread.knows(from->latest->mark) || !thread.knows(to->latest->mark))
      cuda::complain("the time of an event that is there by chance: nobody has asked for its end");
    cuda::note_use(all, *from->latest);
    cuda::note_use(all, *to->latest);
    *milliseconds = static_cast<float>(1e3 * (to->latest->seconds - from->latest->seconds));
    return cudaSuccess;
  });
}
