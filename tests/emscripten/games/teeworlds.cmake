# cw_add_teeworlds_client(NAME FOLDER): teeworlds_client.cpp as the program NAME, with the sources of Teeworlds that
# it needs, from FOLDER, none of which is changed.
enable_language(CXX)
find_program(PYTHON3 python3 REQUIRED)
function(cw_add_teeworlds_client name folder)
    set(generated ${CMAKE_CURRENT_BINARY_DIR}/${name}_generated)
    file(MAKE_DIRECTORY ${generated}/generated)
    execute_process(COMMAND ${PYTHON3} ${folder}/datasrc/compile.py network_header
                    OUTPUT_FILE ${generated}/generated/protocol.h COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${PYTHON3} ${folder}/datasrc/compile.py network_source
                    OUTPUT_FILE ${generated}/generated/protocol.cpp COMMAND_ERROR_IS_FATAL ANY)
    set(sources src/base/system.c src/base/hash.c src/base/hash_bundled.c src/base/hash_libtomcrypt.c
        src/engine/external/md5/md5.c)
    foreach(part compression huffman network network_client network_conn network_token packer ringbuffer snapshot)
        list(APPEND sources src/engine/shared/${part}.cpp)
    endforeach()
    list(TRANSFORM sources PREPEND ${folder}/)
    add_library(${name}_engine STATIC ${sources} ${generated}/generated/protocol.cpp)
    target_include_directories(${name}_engine SYSTEM PUBLIC ${folder}/src ${generated})
    # These replace our own options. Its list of systems lacks Emscripten, which offers all that it uses of Linux.
    set_target_properties(${name}_engine PROPERTIES COMPILE_OPTIONS -w C_EXTENSIONS ON)
    target_compile_definitions(${name}_engine PUBLIC __LINUX__)
    add_executable(${name} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/teeworlds_client.cpp)
    set_target_properties(${name} PROPERTIES CXX_STANDARD 14 COMPILE_OPTIONS "-Wall;-Wextra;-Werror")
    target_link_libraries(${name} PRIVATE ${name}_engine)
endfunction()
