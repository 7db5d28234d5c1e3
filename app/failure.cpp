#include "app/failure.hpp"

#include <new>

#include "base/cannot_give.hpp"
#include "base/error.hpp"

namespace spillway {

Failure failure_of(std::exception const& error) {
  if (dynamic_cast<std::bad_alloc const*>(&error) != nullptr) return failure_of(no_more_memory());
  auto const* ours = dynamic_cast<Error const*>(&error);
  if (ours == nullptr) return {1, error.what(), false};
  return {static_cast<int>(ours->status()), error.what(), true};
}

}  // namespace spillway
