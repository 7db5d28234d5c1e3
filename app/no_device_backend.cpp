#include "app/device_backend.hpp"

namespace spillway {

DeviceBackend const* device_backend() {
  return nullptr;
}

}  // namespace spillway
