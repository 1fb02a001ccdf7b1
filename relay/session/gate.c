#include "session/gate.h"

#include "causeway/secure_packet.h"
#include "causeway/token.h"

#include <string.h>

static bool is_port_message(const uint8_t *data, size_t size)
{
    static const uint8_t head[] = {0xff, 0xff, 0xff, 0xff, 'p', 'o', 'r', 't'};
    return size == sizeof head + 2 && memcmp(data, head, sizeof head) == 0;
}

static bool allows(const struct gate *gate, uint64_t protocol)
{
    for (unsigned i = 0; i < gate->protocol_count; i++) {
        if (gate->protocols[i] == protocol)
            return true;
    }
    return gate->protocol_count == 0;
}

enum gate_verdict gate_opens(const struct gate *gate, const uint8_t *data, size_t size)
{
    struct cw_request request;
    if (gate->raw)
        return is_port_message(data, size) ? GATE_NO_REQUEST : GATE_PASS;
    if (cw_request_parse(data, size, &request) != CW_OK)
        return GATE_NO_REQUEST;
    return allows(gate, request.protocol_id) ? GATE_PASS : GATE_PROTOCOL;
}

uint64_t gate_token_id(const uint8_t *data, size_t size)
{
    struct cw_request request;
    return cw_request_parse(data, size, &request) == CW_OK ? cw_token_id(request.mac) : 0;
}

bool gate_passes(const struct gate *gate, const uint8_t *data, size_t size)
{
    if (gate->raw)
        return !is_port_message(data, size);
    return cw_secure_shape(data, size, CW_TO_SERVER, NULL) == CW_OK;
}

bool gate_is_answer(const struct gate *gate, const uint8_t *data, size_t size)
{
    enum cw_secure_type type;
    return gate->raw || cw_secure_shape(data, size, CW_TO_CLIENT, &type) != CW_OK ||
           type != CW_SECURE_CHALLENGE;
}
