# The target `sodium`: the part of libsodium that core/src/secure/crypto.c uses, compiled from the source of
# Debian's package. Set CAUSEWAY_LIBSODIUM_SOURCE to use a source tree that is there already.
set(CAUSEWAY_LIBSODIUM_SOURCE ${CMAKE_BINARY_DIR}/libsodium
    CACHE PATH "Source tree of libsodium; fetched with apt-get when it does not exist")
if(NOT EXISTS ${CAUSEWAY_LIBSODIUM_SOURCE}/src/libsodium)
    message(STATUS "Fetching the source of libsodium with apt-get")
    execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/fetch-libsodium ${CMAKE_BINARY_DIR}
                    COMMAND_ERROR_IS_FATAL ANY)
endif()

set(SODIUM ${CAUSEWAY_LIBSODIUM_SOURCE}/src/libsodium)
# The one generated header. Its numbers stand in configure.ac.
file(STRINGS ${CAUSEWAY_LIBSODIUM_SOURCE}/configure.ac SODIUM_NUMBERS
     REGEX "^(AC_INIT|SODIUM_LIBRARY_VERSION_(MAJOR|MINOR)=)")
foreach(line ${SODIUM_NUMBERS})
    if(line MATCHES "AC_INIT\\(\\[libsodium\\],\\[([0-9.]+)\\]")
        set(VERSION ${CMAKE_MATCH_1})
    elseif(line MATCHES "^(SODIUM_LIBRARY_VERSION_M[AJIN]+OR)=([0-9]+)")
        set(${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
    endif()
endforeach()
cw_add_part(libsodium ${VERSION} ISC)
set(SODIUM_LIBRARY_MINIMAL_DEF "#define SODIUM_LIBRARY_MINIMAL 1")
configure_file(${SODIUM}/include/sodium/version.h.in ${SODIUM}/include/sodium/version.h @ONLY)

add_library(sodium STATIC
    ${SODIUM}/crypto_aead/chacha20poly1305/sodium/aead_chacha20poly1305.c
    ${SODIUM}/crypto_aead/xchacha20poly1305/sodium/aead_xchacha20poly1305.c
    ${SODIUM}/crypto_core/hchacha20/core_hchacha20.c
    ${SODIUM}/crypto_onetimeauth/poly1305/donna/poly1305_donna.c
    ${SODIUM}/crypto_onetimeauth/poly1305/onetimeauth_poly1305.c
    ${SODIUM}/crypto_stream/chacha20/ref/chacha20_ref.c
    ${SODIUM}/crypto_stream/chacha20/stream_chacha20.c
    ${SODIUM}/crypto_verify/sodium/verify.c
    ${SODIUM}/sodium/utils.c
    ${CMAKE_CURRENT_LIST_DIR}/sodium.c)
target_include_directories(sodium
    SYSTEM PUBLIC ${SODIUM}/include
    PRIVATE ${SODIUM}/include/sodium)
# Without HAVE_EXPLICIT_BZERO it wipes byte by byte, which costs more than the encryption does.
target_compile_definitions(sodium
    PUBLIC SODIUM_STATIC
    PRIVATE CONFIGURED=1 NATIVE_LITTLE_ENDIAN=1 HAVE_STDINT_H=1 HAVE_ATOMIC_OPS=1 HAVE_EXPLICIT_BZERO=1 _GNU_SOURCE)
target_compile_options(sodium PRIVATE -O3 -w)
# What compares and wipes is no slower when it is small.
set_source_files_properties(${SODIUM}/crypto_verify/sodium/verify.c ${SODIUM}/sodium/utils.c
                            PROPERTIES COMPILE_OPTIONS -Oz)
target_link_options(sodium INTERFACE "SHELL:--js-library ${CMAKE_CURRENT_LIST_DIR}/imports.js")
