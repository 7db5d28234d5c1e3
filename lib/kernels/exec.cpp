#include "kernels/exec.hpp"

#include "kernels/kernel_space.hpp"

namespace spillway {

Exec::Exec() : m_space(std::make_shared<KernelSpace>()) {}

int Exec::concurrency() const {
  return m_space->instance.concurrency();
}

void Exec::fence() const {
  m_space->instance.fence("spillway::fence");
}

}  // namespace spillway
