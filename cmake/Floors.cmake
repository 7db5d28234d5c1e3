# The floors of the house, and those within plan/. A library may link to libraries of lower floors,
# and of its own floor where no cycle arises. check_floors() ends the configure otherwise, and
# leaves in floors/ what each library may include, for the style test.
set(spillway_floors "base" "config device jinja tokenizer records" "graph" "model plan"
  "kernels comm io" "huggingface" "runtime" "profile" "state" "samples job" "run"
  "report monitor" "train generate" "rok" "app")
set(spillway_floors_of_plan
  "data" "memory proof" "schedule" "compile" "time" "bound" "search" "explain listing move trace")

# The place of `folder` in a list of floors; empty: it has none.
function(place_in floors folder place)
  set(floor 0)
  foreach(folders IN LISTS floors)
    separate_arguments(folders)
    if(folder IN_LIST folders)
      set(${place} ${floor} PARENT_SCOPE)
      return()
    endif()
    math(EXPR floor "${floor} + 1")
  endforeach()
  set(${place} "" PARENT_SCOPE)
endfunction()

# The floor's number, by the folder below the root or lib/, and by the folder within that where it
# has floors of its own (its own library stands on all of them). A folder without a floor is
# refused.
function(floor_of name number)
  get_target_property(folder spillway_${name} SOURCE_DIR)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
  string(REGEX REPLACE "^lib/" "" folder ${folder})
  string(REPLACE "/" ";" folders ${folder})
  list(POP_FRONT folders outer inner)
  place_in("${spillway_floors}" ${outer} floor)
  set(within 99)
  if(inner AND DEFINED spillway_floors_of_${outer})
    place_in("${spillway_floors_of_${outer}}" ${inner} within)
    set(outer ${outer}/${inner})
  endif()
  if(floor STREQUAL "" OR within STREQUAL "")
    message(FATAL_ERROR "library ${name}: give ${outer}/ a floor in cmake/Floors.cmake")
  endif()
  math(EXPR floor "100 * ${floor} + ${within}")
  set(${number} ${floor} PARENT_SCOPE)
endfunction()

# Names of the project's own libraries that `name` links to directly.
function(links_of name links)
  get_target_property(libraries spillway_${name} INTERFACE_LINK_LIBRARIES)
  string(REGEX MATCHALL "spillway(_|::)[a-z0-9_]+" libraries "${libraries}")
  list(TRANSFORM libraries REPLACE "spillway(_|::)" "")
  list(REMOVE_ITEM libraries flags dnnl version)
  set(${links} ${libraries} PARENT_SCOPE)
endfunction()

# Everything that `name` reaches, itself last; `path` is the way here, where a cycle shows itself.
function(walk_links name path reached)
  if(name IN_LIST path)
    list(JOIN path " -> " way)
    message(FATAL_ERROR "cycle between libraries: ${way} -> ${name}")
  endif()
  list(APPEND path ${name})
  floor_of(${name} floor)
  links_of(${name} links)
  set(all)
  foreach(link IN LISTS links)
    if(NOT TARGET spillway_${link})
      message(FATAL_ERROR "${name} links to ${link}, which is not a library of this project")
    endif()
    floor_of(${link} link_floor)
    if(link_floor GREATER floor)
      message(FATAL_ERROR "${name} links to ${link}, which lives above it (cmake/Floors.cmake)")
    endif()
    walk_links(${link} "${path}" below)
    list(APPEND all ${below})
  endforeach()
  list(REMOVE_DUPLICATES all)
  set(${reached} ${all} ${name} PARENT_SCOPE)
endfunction()

function(check_floors)
  get_property(libraries GLOBAL PROPERTY spillway_libraries)
  file(REMOVE_RECURSE ${PROJECT_BINARY_DIR}/floors)
  foreach(name IN LISTS libraries)
    walk_links(${name} "" reached)
    list(JOIN reached "\n" lines)
    file(WRITE ${PROJECT_BINARY_DIR}/floors/${name} "${lines}\n")
  endforeach()
endfunction()
