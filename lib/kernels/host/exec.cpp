#include "kernels/exec.hpp"

#include "kernels/portable/launch.hpp"

namespace spillway {

Exec::Exec() : m_space(std::make_shared<KernelSpace>()) {}

Exec Exec::with(HostPool& pool) const {
  auto copy = *this;
  copy.m_pool = &pool;
  return copy;
}

Exec Exec::on(void* stream) const {
  auto copy = *this;
  copy.m_stream = stream;
  return copy;
}

bool Exec::is_on_host() const {
  return kOnHost;
}

int Exec::concurrency() const {
  return m_space->concurrency;
}

void Exec::fence() const {
  m_space->instance.fence("spillway::fence");
}

}  // namespace spillway
