#include "base/error_texts.h"

#define PACKET_ERRORS(ERROR)                                                                       \
    ERROR(PACKET_TOO_LARGE, "the packet is longer than max_packet_size or max_send_size; send "    \
                            "less, or raise max_packet_size on both ends")                         \
    ERROR(TRANSMIT_PENDING,                                                                        \
          "the previous packet has not been transmitted yet; call transmit until it returns 0")    \
    ERROR(EVENTS_PENDING, "too many events are waiting; take them with next first")
CW_ERROR_LIST(cw_packet_errors, CW_ERROR_PACKET_TOO_LARGE, PACKET_ERRORS)

#define PACKET_DROP_ERRORS(ERROR)                                                                  \
    ERROR(BUFFER_TOO_SMALL, "the buffer is too small for what must go into it")                    \
    ERROR(STALE, "the packet is older than the window")                                            \
    ERROR(DUPLICATE, "this was received or added before")
CW_ERROR_LIST(cw_packet_drop_errors, CW_ERROR_BUFFER_TOO_SMALL, PACKET_DROP_ERRORS)
