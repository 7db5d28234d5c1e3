#include "device/cuda/stream.hpp"

#include "base/check.hpp"
#include "device/cuda/calls.hpp"

namespace spillway {
namespace {

constexpr std::string_view kTwoSizes = "has a source and a target of two sizes";

cudaEvent_t handle_of(Event const& event) {
  return static_cast<CudaEvent const&>(event).handle();
}

}  // namespace

CudaEvent::CudaEvent(CudaContext const& context) : m_context(context) {
  CudaCalls const calls(m_context);
  calls.require(cudaEventCreateWithFlags(&m_event, cudaEventDefault), "cudaEventCreateWithFlags",
                "making an event");
}

CudaEvent::~CudaEvent() {
  end_cuda(m_context, [&](CudaCalls const& calls) {
    calls.require(cudaEventDestroy(m_event), "cudaEventDestroy", "ending an event");
  });
}

bool CudaEvent::done() const {
  CudaCalls const calls(m_context);
  auto const result = cudaEventQuery(m_event);
  if (result == cudaErrorNotReady) return false;
  calls.require(result, "cudaEventQuery", "asking for an event");
  return true;
}

double CudaEvent::seconds_since(Event const& earlier) const {
  CudaCalls const calls(m_context);
  float milliseconds = 0;
  calls.require(cudaEventElapsedTime(&milliseconds, handle_of(earlier), m_event),
                "cudaEventElapsedTime", "taking the time between events");
  return double{milliseconds} / 1e3;
}

CudaStream::CudaStream(CudaContext const& context, bool urgent) : m_context(context) {
  CudaCalls const calls(m_context);
  int least = 0, greatest = 0;
  calls.require(cudaDeviceGetStreamPriorityRange(&least, &greatest),
                "cudaDeviceGetStreamPriorityRange", "making a stream");
  calls.require(
      cudaStreamCreateWithPriority(&m_stream, cudaStreamNonBlocking, urgent ? greatest : least),
      "cudaStreamCreateWithPriority", "making a stream");
}

CudaStream::~CudaStream() {
  end_cuda(m_context, [&](CudaCalls const&) { finish(); });
  end_cuda(m_context, [&](CudaCalls const& calls) {
    calls.require(cudaStreamDestroy(m_stream), "cudaStreamDestroy", "ending a stream");
  });
}

void CudaStream::copy(DeviceBytes to, HostBytes from) {
  check(to.size() == std::ssize(from), "a copy", kTwoSizes);
  CudaCalls const calls(m_context);
  calls.require(
      cudaMemcpyAsync(to.operand(), from.data(), from.size(), cudaMemcpyHostToDevice, m_stream),
      "cudaMemcpyAsync", "copying from the host to the device");
}

void CudaStream::copy(HostBytes to, DeviceBytes from) {
  check(std::ssize(to) == from.size(), "a copy", kTwoSizes);
  CudaCalls const calls(m_context);
  calls.require(
      cudaMemcpyAsync(to.data(), from.operand(), to.size(), cudaMemcpyDeviceToHost, m_stream),
      "cudaMemcpyAsync", "copying from the device to the host");
}

void CudaStream::copy(DeviceBytes to, DeviceBytes from) {
  check(to.size() == from.size(), "a copy", kTwoSizes);
  CudaCalls const calls(m_context);
  calls.require(cudaMemcpyAsync(to.operand(), from.operand(), static_cast<std::size_t>(to.size()),
                                cudaMemcpyDefault, m_stream),
                "cudaMemcpyAsync", "copying on the device");
}

void CudaStream::fill(DeviceBytes bytes, std::byte value) {
  CudaCalls const calls(m_context);
  calls.require(cudaMemsetAsync(bytes.operand(), std::to_integer<int>(value),
                                static_cast<std::size_t>(bytes.size()), m_stream),
                "cudaMemsetAsync", "filling bytes of the device");
}

// CUDA only notes that a kernel launch has failed. An event is recorded after each kernel of a
// plan, so record() looks for such a failure.
void CudaStream::record(Event& event) {
  CudaCalls const calls(m_context);
  calls.require_nothing_noted("launching a kernel");
  calls.require(cudaEventRecord(handle_of(event), m_stream), "cudaEventRecord",
                "recording an event");
}

void CudaStream::wait(Event const& event) {
  CudaCalls const calls(m_context);
  calls.require(cudaStreamWaitEvent(m_stream, handle_of(event), 0), "cudaStreamWaitEvent",
                "letting a stream wait for an event");
}

void CudaStream::finish() {
  CudaCalls const calls(m_context);
  calls.require(cudaStreamSynchronize(m_stream), "cudaStreamSynchronize",
                "waiting for the end of a stream");
}

}  // namespace spillway
