# Builds the WebAssembly module: cmake -DCMAKE_TOOLCHAIN_FILE=wasm/toolchain.cmake.
# Finds the platform file that comes with the emscripten of the system (Debian: package emscripten).
find_program(EM_CONFIG em-config)
if(NOT EM_CONFIG)
    message(FATAL_ERROR "em-config was not found: install emscripten (Debian: apt-get install --no-install-recommends emscripten)")
endif()
execute_process(COMMAND ${EM_CONFIG} EMSCRIPTEN_ROOT OUTPUT_VARIABLE EMSCRIPTEN_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE)
include(${EMSCRIPTEN_ROOT}/cmake/Modules/Platform/Emscripten.cmake)
set(CAUSEWAY_WASM ON) # our modules, which stand alone, not a library for programs that Emscripten makes
