/* A client against anything that may come from its server, whose keys the input has. An input is a
   list of steps: what, how many bytes, bytes. */
#include "causeway/client.h"
#include "causeway/stream.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t private_key[CW_KEY_BYTES] = {3, 1, 4};

static void fill(void *context, uint8_t *out, size_t size)
{
    (void)context;
    memset(out, 9, size);
}

/* From a block of exactly the size. */
static void give(struct cw_client *client, const uint8_t *bytes, size_t size, double now)
{
    uint8_t *exact = malloc(size);
    if (size)
        memcpy(exact, bytes, size);
    cw_client_receive(client, NULL, exact, size, now);
    free(exact);
}

static void take_events(struct cw_client *client)
{
    struct cw_client_event event;
    while (cw_client_next(client, &event)) {
        if (event.type == CW_CLIENT_EVENT_PAYLOAD &&
            (event.size < 1 || event.size > CW_PAYLOAD_MAX))
            abort();
        if (event.type == CW_CLIENT_EVENT_DISCONNECTED &&
            !cw_text_valid(event.text, strnlen(event.text, CW_FAREWELL_TEXT_MAX + 1)))
            abort();
    }
}

static void transmit(struct cw_client *client, const struct cw_token *token, double now)
{
    uint8_t out[CW_SECURE_MAX], body[CW_PAYLOAD_MAX];
    size_t size;
    while ((size = cw_client_transmit(client, out, sizeof(out), now, NULL)) > 0) {
        struct cw_secure_packet packet;
        if (out[0] != CW_SECURE_REQUEST &&
            cw_secure_read(out, size,
                           &(struct cw_secure_key){.protocol_id = 7,
                                                   .direction = CW_TO_SERVER,
                                                   .bytes = token->client_to_server_key},
                           NULL, body, &packet) != CW_OK)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct cw_address addresses[2] = {
        {.type = CW_ADDRESS_IPV4, .port = 1, .bytes = {127, 0, 0, 1}},
        {.type = CW_ADDRESS_IPV6, .port = 2, .bytes = {1}}};
    struct cw_token_grant grant = cw_token_grant_default();
    grant.protocol_id = 7;
    grant.addresses = addresses;
    grant.address_count = 2;
    grant.random = (struct cw_random){.fill = fill};
    uint8_t bytes[CW_TOKEN_SIZE], out[CW_SECURE_MAX];
    struct cw_token token;
    if (cw_token_generate(&grant, private_key, bytes) != CW_OK ||
        cw_token_read(bytes, sizeof(bytes), &token) != CW_OK)
        abort();
    const struct cw_client_config config = cw_client_config_default();
    struct cw_client *client;
    double now = 0;
    uint64_t sequence = 0;
    if (cw_client_create(&config, &client) != CW_OK ||
        cw_client_connect(client, bytes, sizeof(bytes), now) != CW_OK)
        abort();
    while (size >= 3) {
        size_t length = (size_t)data[1] << 8 | data[2];
        const uint8_t what = data[0];
        data += 3;
        size -= 3;
        if (length > size)
            length = size;
        switch (what % 7) {
        case 0:
            give(client, data, length, now);
            break;
        case 1:
        case 2: { /* any sealed packet; a step of 2 makes up the body */
            static const uint8_t zeros[CW_PAYLOAD_MAX];
            static const size_t sizes[] = {0,
                                           0,
                                           CW_CHALLENGE_BODY_SIZE,
                                           CW_CHALLENGE_BODY_SIZE,
                                           CW_KEEP_ALIVE_SIZE,
                                           9,
                                           CW_FAREWELL_SIZE_MIN};
            const uint8_t type = length ? data[0] % 7 : CW_SECURE_KEEP_ALIVE;
            const bool made_up = what % 7 == 2 || length == 0;
            const size_t written = cw_secure_write(
                &(struct cw_secure_packet){.type = (enum cw_secure_type)type,
                                           .sequence = sequence++,
                                           .body = made_up ? zeros : data + 1,
                                           .size = made_up ? sizes[type] : length - 1},
                &(struct cw_secure_key){.protocol_id = 7,
                                        .direction = CW_TO_CLIENT,
                                        .bytes = token.server_to_client_key},
                out, sizeof(out));
            give(client, out, written, now);
            break;
        }
        case 3:
            now += length ? data[0] / 32.0 : 0;
            cw_client_update(client, now);
            break;
        case 4:
            transmit(client, &token, now);
            break;
        case 5:
            take_events(client);
            break;
        default:
            if (length == 0)
                cw_client_disconnect(client);
            else if (length == 1)
                cw_client_move(client, now);
            else
                cw_client_send(client, data, length);
        }
        data += length;
        size -= length;
    }
    transmit(client, &token, now);
    take_events(client);
    cw_client_destroy(client);
    return 0;
}
