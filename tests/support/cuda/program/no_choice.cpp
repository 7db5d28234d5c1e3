#include "tests/support/cuda/program/choice.hpp"

namespace spillway::test::cuda {

ChooseProducts choice_of_products() {
  return nullptr;
}

}  // namespace spillway::test::cuda
