#include "base/error_texts.h"

#define PACKET_ERRORS(ERROR)                                                                       \
    ERROR(PACKET_TOO_LARGE, "the packet is longer than max_packet_size or max_send_size; send "    \
                            "less, or raise max_packet_size on both ends")                         \
    ERROR(TRANSMIT_PENDING,                                                                        \
          "the previous packet has not been transmitted yet; call transmit until it returns 0")    \
    ERROR(EVENTS_PENDING, "too many events are waiting; take them with next first")                \
    ERROR(BUFFER_TOO_SMALL, "the buffer is too small for what must go into it")
CW_ERROR_LIST(cw_packet_errors, CW_ERROR_PACKET_TOO_LARGE, PACKET_ERRORS)
