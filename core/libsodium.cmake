# The target causeway_sodium: libsodium for the core and for what calls libsodium itself. With CAUSEWAY_SODIUM it
# is that of the system, which users of the library need too, or what the core takes of it, compiled from source
# and a part of the library: that needs no libsodium anywhere, and leaves no name that another one could clash with.
if(CMAKE_CROSSCOMPILING)
    set(SODIUM_DEFAULT source)
else()
    set(SODIUM_DEFAULT system)
endif()
set(CAUSEWAY_SODIUM ${SODIUM_DEFAULT} CACHE STRING "system: link the system's libsodium; source: build in what is used of it")
set_property(CACHE CAUSEWAY_SODIUM PROPERTY STRINGS system source)

if(CAUSEWAY_SODIUM STREQUAL system)
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(SODIUM IMPORTED_TARGET GLOBAL libsodium)
    if(NOT SODIUM_FOUND)
        message(FATAL_ERROR "libsodium was not found: install it (Debian: libsodium-dev), or configure with "
                            "-DCAUSEWAY_SODIUM=source")
    endif()
    cw_add_part(libsodium ${SODIUM_VERSION} ISC)
    add_library(causeway_sodium INTERFACE)
    target_link_libraries(causeway_sodium INTERFACE PkgConfig::SODIUM)
    return()
elseif(NOT CAUSEWAY_SODIUM STREQUAL source)
    message(FATAL_ERROR "CAUSEWAY_SODIUM is system or source, not '${CAUSEWAY_SODIUM}'")
endif()

set(CAUSEWAY_LIBSODIUM_SOURCE ${CMAKE_BINARY_DIR}/libsodium
    CACHE PATH "Source tree of libsodium; that of Debian's package is fetched with apt-get when it does not exist")
if(NOT EXISTS ${CAUSEWAY_LIBSODIUM_SOURCE}/src/libsodium)
    message(STATUS "Fetching the source of libsodium with apt-get")
    execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/tools/fetch-source ${CMAKE_BINARY_DIR} libsodium
                    COMMAND_ERROR_IS_FATAL ANY)
endif()

set(SODIUM ${CAUSEWAY_LIBSODIUM_SOURCE}/src/libsodium)
# The one generated header. Its numbers stand in configure.ac.
file(STRINGS ${CAUSEWAY_LIBSODIUM_SOURCE}/configure.ac SODIUM_NUMBERS
     REGEX "^(AC_INIT|SODIUM_LIBRARY_VERSION_(MAJOR|MINOR)=)")
foreach(line ${SODIUM_NUMBERS})
    if(line MATCHES "AC_INIT\\(\\[libsodium\\],\\[([0-9.]+)\\]")
        set(SODIUM_VERSION ${CMAKE_MATCH_1})
    elseif(line MATCHES "^(SODIUM_LIBRARY_VERSION_M[AJIN]+OR)=([0-9]+)")
        set(${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
    endif()
endforeach()
cw_add_part(libsodium ${SODIUM_VERSION} ISC)
set(SODIUM_LIBRARY_MINIMAL_DEF "#define SODIUM_LIBRARY_MINIMAL 1")
configure_file(${SODIUM}/include/sodium/version.h.in ${SODIUM}/include/sodium/version.h @ONLY)

set(SODIUM_SOURCES
    ${SODIUM}/crypto_aead/chacha20poly1305/sodium/aead_chacha20poly1305.c
    ${SODIUM}/crypto_aead/xchacha20poly1305/sodium/aead_xchacha20poly1305.c
    ${SODIUM}/crypto_core/hchacha20/core_hchacha20.c
    ${SODIUM}/crypto_onetimeauth/poly1305/donna/poly1305_donna.c
    ${SODIUM}/crypto_onetimeauth/poly1305/onetimeauth_poly1305.c
    ${SODIUM}/crypto_stream/chacha20/ref/chacha20_ref.c
    ${SODIUM}/crypto_stream/chacha20/stream_chacha20.c
    ${SODIUM}/crypto_verify/sodium/verify.c
    ${SODIUM}/sodium/codecs.c
    ${SODIUM}/sodium/utils.c)

# Every name that these define gets a prefix. libsodium starts the line of a definition with its name.
set(SODIUM_NAMES ${CMAKE_CURRENT_BINARY_DIR}/sodium_names.h)
set(RENAMED "#define randombytes_buf causeway_randombytes_buf\n")
foreach(name init misuse)
    string(APPEND RENAMED "#define sodium_${name} causeway_sodium_${name}\n")
endforeach()
foreach(source ${SODIUM_SOURCES})
    file(STRINGS ${source} definitions REGEX "^(_?(crypto|sodium)_[a-z0-9_]+\\(| *crypto_[a-z0-9_]+ = )")
    foreach(definition ${definitions})
        string(REGEX MATCH "[a-z0-9_]+" name ${definition})
        string(APPEND RENAMED "#define ${name} causeway_${name}\n")
    endforeach()
endforeach()
file(CONFIGURE OUTPUT ${SODIUM_NAMES} CONTENT "${RENAMED}" @ONLY)

# What libsodium takes from its platform: a file that gives random bytes. Its objects become part of the library,
# but for our modules of WebAssembly, which are a few bytes smaller when its functions lie together.
set(KIND OBJECT)
if(CAUSEWAY_WASM)
    set(KIND STATIC)
    set(WASM ${PROJECT_SOURCE_DIR}/wasm)
    set(PLATFORM ${WASM}/sodium.c ${WASM}/chacha20.c ${WASM}/poly1305.c) # which include what is left out
    list(FILTER SODIUM_SOURCES EXCLUDE REGEX "/(crypto_stream|crypto_onetimeauth)/")
elseif(WIN32)
    set(PLATFORM sodium/sodium_windows.c)
else()
    set(PLATFORM sodium/sodium_getentropy.c)
endif()

add_library(causeway_sodium ${KIND} ${SODIUM_SOURCES} ${PLATFORM})
set_target_properties(causeway_sodium PROPERTIES C_VISIBILITY_PRESET hidden
                                                 POSITION_INDEPENDENT_CODE "${BUILD_SHARED_LIBS}")
target_include_directories(causeway_sodium
    SYSTEM PUBLIC ${SODIUM}/include
    PRIVATE ${SODIUM}/include/sodium ${SODIUM})
target_compile_definitions(causeway_sodium
    PUBLIC SODIUM_STATIC
    PRIVATE CONFIGURED=1 HAVE_STDINT_H=1 HAVE_ATOMIC_OPS=1 _GNU_SOURCE)
if(WIN32)
    target_link_libraries(causeway_sodium INTERFACE bcrypt)
endif()
target_compile_options(causeway_sodium PUBLIC "SHELL:-include ${SODIUM_NAMES}" PRIVATE -O3 -w)

if(CMAKE_C_BYTE_ORDER STREQUAL BIG_ENDIAN)
    target_compile_definitions(causeway_sodium PRIVATE NATIVE_BIG_ENDIAN=1)
else()
    target_compile_definitions(causeway_sodium PRIVATE NATIVE_LITTLE_ENDIAN=1)
endif()
if(CMAKE_SIZEOF_VOID_P EQUAL 8)
    target_compile_definitions(causeway_sodium PRIVATE HAVE_TI_MODE=1) # numbers of 128 bits
endif()
# Without HAVE_EXPLICIT_BZERO it wipes byte by byte, which costs more than the encryption does.
include(CheckSymbolExists)
set(CMAKE_REQUIRED_DEFINITIONS -D_GNU_SOURCE)
check_symbol_exists(explicit_bzero string.h HAVE_EXPLICIT_BZERO)
unset(CMAKE_REQUIRED_DEFINITIONS)
if(HAVE_EXPLICIT_BZERO)
    target_compile_definitions(causeway_sodium PRIVATE HAVE_EXPLICIT_BZERO=1)
endif()
