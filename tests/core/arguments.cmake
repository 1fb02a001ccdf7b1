# cw_write_arguments(TARGET): writes the calls of arguments.c from the public headers, and from private ones whose
# functions keep to the same contract. JavaScript does it.
function(cw_write_arguments target)
    set(here ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
    set(core ${here}/../../core)
    set(folders ${core}/include/causeway ${core}/include/causeway/native ${core}/protocols/include/causeway/protocols
                ${core}/lab)
    set(private message/message_pool.h netcode/crypto.h netcode/secure_packet.h netcode/token.h)
    list(TRANSFORM private PREPEND ${core}/src/)
    list(TRANSFORM folders APPEND /*.h OUTPUT_VARIABLE patterns)
    file(GLOB headers CONFIGURE_DEPENDS ${patterns})
    set(out ${CMAKE_CURRENT_BINARY_DIR}/arguments)
    add_custom_command(OUTPUT ${out}/arguments_calls.h
        COMMAND ${CMAKE_COMMAND} -E make_directory ${out}
        COMMAND ${NODE} ${here}/arguments.mjs ${folders} ${private} > ${out}/arguments_calls.h
        DEPENDS ${here}/arguments.mjs ${headers} ${private} VERBATIM)
    target_sources(${target} PRIVATE ${out}/arguments_calls.h)
    target_include_directories(${target} PRIVATE ${out})
endfunction()
