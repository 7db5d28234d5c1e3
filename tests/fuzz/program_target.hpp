// This kind of file is a Program as `spillway plan --items --json` prints it.
#pragma once

#include "targets.hpp"

namespace spillway::test {

FuzzTarget program_target();

}  // namespace spillway::test
