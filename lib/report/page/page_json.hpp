// The JSON of pages keeps the order in which fields were added, for people who look into it.
#pragma once

#include "monitor/json_fields.hpp"

namespace spillway {

using PageJson = RunJson;

}  // namespace spillway
