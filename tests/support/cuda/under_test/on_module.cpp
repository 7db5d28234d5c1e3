// Makes the module's device the one of tests, on the stand-in: its kernels are executed as PTX.
#include <gtest/gtest.h>

#include "kernels/host/kernels.hpp"
#include "tests/support/cuda/checked_device.hpp"
#include "tests/support/cuda/complaints.hpp"
#include "tests/support/cuda/engine_order.hpp"
#include "tests/support/cuda/settings.hpp"
#include "tests/support/cuda/under_test/module_on_stand_in.hpp"
#include "tests/support/device_under_test.hpp"
#include "tests/support/sample.hpp"

namespace spillway::test {
namespace {

// Holds the runtime of the module's kernels, which a process begins once.
class Session {
 public:
  Session() {
    cuda::reset();
    m_found = cuda::open_module_on_stand_in(SPILLWAY_CUDA_MODULE_FILE);
    if (m_found.backend == nullptr) throw std::runtime_error(m_found.trouble);
    m_device = m_found.backend->open(0);
    m_kernels.emplace(m_found.backend->begin_kernels(*m_device), host::kernel,
                      m_device->properties().target);
  }
  ~Session() { m_found.backend->end_kernels(); }

  DeviceBackend const& backend() const { return *m_found.backend; }
  Device& device() const { return *m_device; }
  Kernels const& kernels() const { return *m_kernels; }

 private:
  FoundBackend m_found;
  std::unique_ptr<Device> m_device;
  std::optional<Kernels> m_kernels;
};

Session& session() {
  static Session one;
  return one;
}

}  // namespace

bool device_has_own_kernels() {
  return true;
}

void set_kernels_of_device(Graph& graph) {
  auto& device = session().device();
  auto const& kernels = session().kernels();
  graph.arithmetic.isa = kernels.target;
  graph.arithmetic.products = kernels.device.choose_products(
      {graph.tensors, graph.chunks, graph.arithmetic}, graph.ops, device.properties().name, {});
}

struct DeviceUnderTest::StandIn {
  std::vector<std::string> there_before = cuda::leftovers();
  std::unique_ptr<Device> device = cuda::checked(session().backend().open(0));
};

// Each has a seed of its own, so that work is late in other ways.
DeviceUnderTest::DeviceUnderTest(bool unified) {
  EXPECT_FALSE(unified) << "kernels of a device compute beside its memory";
  session();
  static std::uint64_t seed = 1000 * turn_of(1'000'000);
  cuda::reset({.seed = ++seed});
  m_stand_in = std::make_unique<StandIn>();
}

DeviceUnderTest::~DeviceUnderTest() {
  auto const before = m_stand_in->there_before;
  m_stand_in.reset();
  EXPECT_EQ(cuda::complaints(), std::vector<std::string>{});
  EXPECT_EQ(cuda::leftovers(), before);
}

bool DeviceUnderTest::is_stand_in() const {
  return true;
}

Device& DeviceUnderTest::device() {
  return *m_stand_in->device;
}

Kernels DeviceUnderTest::kernels() const {
  return session().kernels();
}

MakeWatch DeviceUnderTest::make_watch() const {
  return cuda::make_engine_order;
}

void DeviceUnderTest::expect_sound() const {
  EXPECT_EQ(cuda::complaints(), std::vector<std::string>{});
}

}  // namespace spillway::test
