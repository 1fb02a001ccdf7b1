#include "netcode/secure_packet.h"
#include "netcode/crypto.h"

#include "base/little_endian.h"
#include "base/utf8.h"

#include <string.h>

#define PACKET_ASSOCIATED (CW_NETCODE_VERSION_SIZE + 8 + 1)
#define SIZE_MIN          18

enum cw_error cw_replay_check(const struct cw_replay *replay, uint64_t sequence)
{
    if (!replay)
        return CW_ERROR_INVALID_ARGUMENT;
    if (sequence > replay->newest)
        return CW_OK;
    if (replay->newest - sequence >= CW_REPLAY_WINDOW)
        return CW_ERROR_STALE;
    const unsigned bit = (unsigned)(sequence % CW_REPLAY_WINDOW);
    return replay->received[bit / 64] >> bit % 64 & 1 ? CW_ERROR_DUPLICATE : CW_OK;
}

void cw_replay_advance(struct cw_replay *replay, uint64_t sequence)
{
    if (!replay)
        return;
    if (sequence > replay->newest) {
        if (sequence - replay->newest >= CW_REPLAY_WINDOW) {
            memset(replay->received, 0, sizeof(replay->received));
        } else {
            for (uint64_t passed = replay->newest + 1; passed < sequence; passed++) {
                const unsigned bit = (unsigned)(passed % CW_REPLAY_WINDOW);
                replay->received[bit / 64] &= ~((uint64_t)1 << bit % 64);
            }
        }
        replay->newest = sequence;
    }
    const unsigned bit = (unsigned)(sequence % CW_REPLAY_WINDOW);
    replay->received[bit / 64] |= (uint64_t)1 << bit % 64;
}

static bool valid_body_size(enum cw_secure_type type, enum cw_direction direction, size_t size)
{
    switch (type) {
    case CW_SECURE_DENIED:
        return size <= CW_OUTLINE_MAX && size % 2 == 0;
    case CW_SECURE_DISCONNECT:
        return size == 0 || (direction == CW_TO_CLIENT && size >= CW_FAREWELL_SIZE_MIN &&
                             size <= CW_FAREWELL_SIZE_MAX);
    case CW_SECURE_CHALLENGE:
    case CW_SECURE_RESPONSE:
        return size == CW_CHALLENGE_BODY_SIZE;
    case CW_SECURE_KEEP_ALIVE:
        return size == CW_KEEP_ALIVE_SIZE;
    case CW_SECURE_PAYLOAD:
        return size >= 1 && size <= CW_PAYLOAD_MAX;
    case CW_SECURE_REQUEST:
    case CW_SECURE_TYPES:
        break;
    }
    return false;
}

static bool taken(enum cw_secure_type type, enum cw_direction direction)
{
    switch (type) {
    case CW_SECURE_DENIED:
    case CW_SECURE_CHALLENGE:
        return direction == CW_TO_CLIENT;
    case CW_SECURE_RESPONSE:
        return direction == CW_TO_SERVER;
    case CW_SECURE_KEEP_ALIVE:
    case CW_SECURE_PAYLOAD:
    case CW_SECURE_DISCONNECT:
        return true;
    case CW_SECURE_REQUEST:
    case CW_SECURE_TYPES:
        break;
    }
    return false;
}

static void put_associated(uint8_t out[PACKET_ASSOCIATED], uint64_t protocol_id, uint8_t prefix)
{
    cw_little_endian_put_bytes(&out, CW_NETCODE_VERSION, CW_NETCODE_VERSION_SIZE);
    cw_little_endian_put(&out, protocol_id, 8);
    cw_little_endian_put(&out, prefix, 1);
}

static void put_nonce(uint8_t nonce[CW_NONCE_BYTES], uint64_t sequence)
{
    cw_little_endian_put(&nonce, 0, 4);
    cw_little_endian_put(&nonce, sequence, 8);
}

size_t cw_secure_body_offset(uint64_t sequence)
{
    size_t offset = 2;
    while (sequence >>= 8)
        offset++;
    return offset;
}

size_t cw_secure_write(const struct cw_secure_packet *packet, const struct cw_secure_key *key,
                       uint8_t *out, size_t capacity)
{
    if (!packet || !key || !key->bytes || !out || (!packet->body && packet->size > 0) ||
        !valid_body_size(packet->type, key->direction, packet->size))
        return 0;
    const size_t offset = cw_secure_body_offset(packet->sequence);
    if (offset + packet->size + CW_MAC_BYTES > capacity)
        return 0;
    const uint8_t prefix = (uint8_t)((offset - 1) << 4 | packet->type);
    uint8_t *at = out;
    cw_little_endian_put(&at, prefix, 1);
    cw_little_endian_put(&at, packet->sequence, (unsigned)(offset - 1));

    uint8_t associated[PACKET_ASSOCIATED];
    uint8_t nonce[CW_NONCE_BYTES];
    put_associated(associated, key->protocol_id, prefix);
    put_nonce(nonce, packet->sequence);
    cw_crypto_seal(&(struct cw_seal){key->bytes, nonce, associated, sizeof(associated)},
                   packet->body, packet->size, at);
    return offset + packet->size + CW_MAC_BYTES;
}

/* Makes the checks that need no key, up to that of the size. Fills in the type, the sequence and
   the body's offset. */
static enum cw_error read_header(struct cw_secure_packet *packet, size_t *offset,
                                 const uint8_t *data, size_t size, enum cw_direction direction)
{
    if (size < SIZE_MIN)
        return CW_ERROR_PACKET_SHORT;
    const unsigned type = data[0] & 15, sequence_bytes = data[0] >> 4;
    if (type >= CW_SECURE_TYPES || !taken((enum cw_secure_type)type, direction))
        return CW_ERROR_PACKET_TYPE;
    if (sequence_bytes < 1 || sequence_bytes > 8)
        return CW_ERROR_PACKET_SEQUENCE;
    if (size < 1 + sequence_bytes + CW_MAC_BYTES)
        return CW_ERROR_PACKET_SHORT;
    const uint8_t *at = data + 1;
    packet->type = (enum cw_secure_type)type;
    packet->sequence = cw_little_endian_get(&at, sequence_bytes);
    packet->size = size - 1 - sequence_bytes - CW_MAC_BYTES;
    *offset = 1 + sequence_bytes;
    return CW_OK;
}

enum cw_error cw_secure_read(const uint8_t *data, size_t size, const struct cw_secure_key *key,
                             struct cw_replay *replay, uint8_t body[CW_PAYLOAD_MAX],
                             struct cw_secure_packet *packet)
{
    if ((!data && size > 0) || !key || !key->bytes || !body || !packet)
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_secure_packet header = {.body = body};
    size_t offset;
    enum cw_error error = read_header(&header, &offset, data, size, key->direction);
    if (error)
        return error;
    if (header.type < CW_SECURE_KEEP_ALIVE)
        replay = NULL;
    if (replay && (error = cw_replay_check(replay, header.sequence)) != CW_OK)
        return error;

    uint8_t associated[PACKET_ASSOCIATED];
    uint8_t nonce[CW_NONCE_BYTES];
    put_associated(associated, key->protocol_id, data[0]);
    put_nonce(nonce, header.sequence);
    /* A body of another size may not fit; whether it is authentic still decides about the window.
     */
    const bool fits = valid_body_size(header.type, key->direction, header.size);
    if (!cw_crypto_open(&(struct cw_seal){key->bytes, nonce, associated, sizeof(associated)},
                        data + offset, size - offset, fits ? body : NULL))
        return CW_ERROR_NOT_AUTHENTIC;
    if (replay)
        cw_replay_advance(replay, header.sequence);
    if (!fits)
        return CW_ERROR_BODY_SIZE;
    *packet = header;
    return CW_OK;
}

enum cw_error cw_secure_shape(const uint8_t *data, size_t size, enum cw_direction direction,
                              enum cw_secure_type *type)
{
    if (!data && size > 0)
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_secure_packet packet = {.type = CW_SECURE_REQUEST};
    if (direction == CW_TO_SERVER && size > 0 && data[0] == CW_SECURE_REQUEST) {
        struct cw_request request;
        const enum cw_error error = cw_request_parse(data, size, &request);
        if (error)
            return error;
    } else {
        size_t offset;
        const enum cw_error error = read_header(&packet, &offset, data, size, direction);
        if (error)
            return error;
        if (!valid_body_size(packet.type, direction, packet.size))
            return CW_ERROR_BODY_SIZE;
    }
    if (type)
        *type = packet.type;
    return CW_OK;
}

void cw_request_write(const struct cw_token *token, uint8_t out[CW_REQUEST_SIZE])
{
    if (!out || !token)
        return;
    cw_little_endian_put(&out, CW_SECURE_REQUEST, 1);
    cw_little_endian_put_bytes(&out, CW_NETCODE_VERSION, CW_NETCODE_VERSION_SIZE);
    cw_little_endian_put(&out, token->protocol_id, 8);
    cw_little_endian_put(&out, token->expire_time, 8);
    cw_little_endian_put_bytes(&out, token->nonce, CW_LONG_NONCE_BYTES);
    cw_little_endian_put_bytes(&out, token->sealed, CW_TOKEN_PRIVATE_SIZE);
}

enum cw_error cw_request_parse(const uint8_t *data, size_t size, struct cw_request *request)
{
    if (!request || (!data && size > 0))
        return CW_ERROR_INVALID_ARGUMENT;
    if (size != CW_REQUEST_SIZE)
        return CW_ERROR_REQUEST_SIZE;
    const uint8_t *at = data;
    if (*at++ != CW_SECURE_REQUEST)
        return CW_ERROR_PACKET_TYPE;
    if (memcmp(at, CW_NETCODE_VERSION, CW_NETCODE_VERSION_SIZE) != 0)
        return CW_ERROR_VERSION;
    at += CW_NETCODE_VERSION_SIZE;
    request->protocol_id = cw_little_endian_get(&at, 8);
    request->expire_time = cw_little_endian_get(&at, 8);
    request->nonce = at;
    request->sealed = at + CW_LONG_NONCE_BYTES;
    request->mac = request->sealed + CW_TOKEN_PRIVATE_SIZE - CW_MAC_BYTES;
    return CW_OK;
}

enum cw_error cw_request_check(const struct cw_request *request, uint64_t protocol_id,
                               uint64_t unix_time)
{
    if (!request)
        return CW_ERROR_INVALID_ARGUMENT;
    if (request->protocol_id != protocol_id)
        return CW_ERROR_PROTOCOL_ID;
    if (request->expire_time <= unix_time)
        return CW_ERROR_TOKEN_EXPIRED;
    return CW_OK;
}

enum cw_error cw_request_open(const struct cw_request *request,
                              const uint8_t private_key[CW_KEY_BYTES],
                              struct cw_token_private *token)
{
    if (!request)
        return CW_ERROR_INVALID_ARGUMENT;
    return cw_token_open(request->sealed, request->protocol_id, request->expire_time,
                         request->nonce, private_key, token);
}

bool cw_token_names(const struct cw_token_private *token, const struct cw_address *addresses,
                    size_t count)
{
    if (!token || !addresses)
        return false;
    for (uint32_t i = 0; i < token->address_count; i++)
        for (size_t k = 0; k < count; k++)
            if (cw_address_equal(&token->addresses[i], &addresses[k]))
                return true;
    return false;
}

void cw_keep_alive_put(uint32_t client_index, uint32_t max_clients,
                       uint8_t body[CW_KEEP_ALIVE_SIZE])
{
    if (!body)
        return;
    cw_little_endian_put(&body, client_index, 4);
    cw_little_endian_put(&body, max_clients, 4);
}

void cw_keep_alive_get(const uint8_t body[CW_KEEP_ALIVE_SIZE], uint32_t *client_index,
                       uint32_t *max_clients)
{
    if (!body || !client_index || !max_clients)
        return;
    *client_index = (uint32_t)cw_little_endian_get(&body, 4);
    *max_clients = (uint32_t)cw_little_endian_get(&body, 4);
}

struct cw_farewell cw_farewell_make(enum cw_disconnect_reason reason, uint32_t code,
                                    const char *text)
{
    struct cw_farewell farewell = {.reason = reason, .code = code};
    size_t length = 0;
    while (text && length <= CW_FAREWELL_TEXT_MAX && text[length] != 0)
        length++;
    if (length > CW_FAREWELL_TEXT_MAX) /* cut it between two characters */
        while (--length > 0 && (text[length] & 0xC0) == 0x80)
            ;
    if (length > 0)
        memcpy(farewell.text, text, length);
    return farewell;
}

size_t cw_farewell_put(const struct cw_farewell *farewell, uint8_t body[CW_FAREWELL_SIZE_MAX])
{
    if (!farewell || !body)
        return 0;
    const size_t length = strlen(farewell->text);
    cw_little_endian_put(&body, farewell->reason, 1);
    cw_little_endian_put(&body, farewell->code, 4);
    cw_little_endian_put_bytes(&body, farewell->text, length);
    return CW_FAREWELL_SIZE_MIN + length;
}

bool cw_farewell_get(const uint8_t *body, size_t size, struct cw_farewell *farewell)
{
    if (!body || !farewell || size < CW_FAREWELL_SIZE_MIN || size > CW_FAREWELL_SIZE_MAX)
        return false;
    const uint8_t reason = *body++;
    farewell->reason = reason > CW_DISCONNECT_BY_SERVER && reason <= CW_DISCONNECT_STOPPING
                           ? (enum cw_disconnect_reason)reason
                           : CW_DISCONNECT_BY_SERVER;
    farewell->code = (uint32_t)cw_little_endian_get(&body, 4);
    size -= CW_FAREWELL_SIZE_MIN;
    if (!cw_utf8_valid((const char *)body, size))
        size = 0;
    memcpy(farewell->text, body, size);
    farewell->text[size] = 0;
    return true;
}

void cw_challenge_put(uint64_t sequence, const uint8_t token[CW_CHALLENGE_TOKEN_SIZE],
                      uint8_t body[CW_CHALLENGE_BODY_SIZE])
{
    if (!body || !token)
        return;
    cw_little_endian_put(&body, sequence, 8);
    cw_little_endian_put_bytes(&body, token, CW_CHALLENGE_TOKEN_SIZE);
}

const uint8_t *cw_challenge_get(const uint8_t body[CW_CHALLENGE_BODY_SIZE], uint64_t *sequence)
{
    if (!body || !sequence)
        return NULL;
    *sequence = cw_little_endian_get(&body, 8);
    return body;
}
