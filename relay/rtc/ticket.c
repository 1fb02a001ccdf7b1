#include "rtc/ticket.h"

#include "rtc/big_endian.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

#define HALF 16 /* bytes of half an HMAC */

/* Where the members of a ticket begin. */
enum { EXPIRES = 1, CLIENT = 5, ORIGIN_SIZE = 21, ORIGIN = 22 };

/* The bytes behind a ticket, up to the name of the server. */
#define NUMBER      0
#define CERTIFICATE (NUMBER + 16)
#define SESSION     (CERTIFICATE + 32)
#define SERVER      (SESSION + SESSION_KEY_SIZE)

static bool sign(const EVP_MD *hash, const uint8_t *key, size_t key_size, const uint8_t *data,
                 size_t size, uint8_t *out)
{
    return HMAC(hash, key, (int)key_size, data, size, out, NULL) != NULL;
}

/* Writes base64 without padding, terminated. Returns its end. */
static char *put_base64(char *out, const uint8_t *data, size_t size)
{
    EVP_EncodeBlock((unsigned char *)out, data, (int)size);
    char *end = out + (size * 4 + 2) / 3;
    *end = '\0';
    return end;
}

bool ticket_write(const uint8_t secret[TICKET_SECRET_SIZE], const struct udp_address *client,
                  const char *origin, uint32_t expires, char out[TICKET_TEXT_SIZE])
{
    uint8_t bytes[ORIGIN + TICKET_ORIGIN_MAX + 2 * HALF] = {TICKET_VERSION};
    uint8_t key[HALF];
    const size_t size = strlen(origin);
    if (size > TICKET_ORIGIN_MAX)
        return false;
    store32(bytes + EXPIRES, expires);
    memcpy(bytes + CLIENT, client->ip, sizeof client->ip);
    bytes[ORIGIN_SIZE] = (uint8_t)size;
    memcpy(bytes + ORIGIN, origin, size);
    uint8_t *proof = bytes + ORIGIN + size;
    if (!sign(EVP_sha256(), secret, TICKET_SECRET_SIZE, bytes, ORIGIN + size, proof))
        return false;
    memcpy(key, proof + HALF, sizeof key);
    char *end = put_base64(out, bytes, ORIGIN + size + HALF);
    *end = ' ';
    put_base64(end + 1, key, sizeof key);
    return true;
}

/* Decodes the ufrag of a claim into its bytes. Returns their number; 0 when it is no base64. */
static size_t decode(struct ticket_claim *claim)
{
    char padded[SDP_UFRAG_MAX + 4];
    const size_t size = strlen(claim->ufrag);
    const size_t padding = (4 - size % 4) % 4;
    memcpy(padded, claim->ufrag, size);
    memset(padded + size, '=', padding);
    const int decoded =
        EVP_DecodeBlock(claim->bytes, (const unsigned char *)padded, (int)(size + padding));
    return decoded > (int)padding ? (size_t)decoded - padding : 0;
}

/* Copies a part of a username. Returns false when it is none of a ufrag. */
static bool take_ufrag(char out[SDP_UFRAG_MAX + 1], const char *text, size_t size)
{
    if (size < 4 || size > SDP_UFRAG_MAX || memchr(text, '\0', size))
        return false;
    memcpy(out, text, size);
    return true;
}

bool ticket_read(struct ticket_claim *claim, const char *username, size_t size)
{
    const char *colon = memchr(username, ':', size);
    *claim = (struct ticket_claim){0};
    if (!colon || !take_ufrag(claim->ufrag, username, (size_t)(colon - username)) ||
        !take_ufrag(claim->remote_ufrag, colon + 1, size - (size_t)(colon - username) - 1))
        return false;
    const uint8_t *bytes = claim->bytes;
    const size_t decoded = decode(claim);
    if (decoded < ORIGIN || bytes[0] != TICKET_VERSION || bytes[ORIGIN_SIZE] > TICKET_ORIGIN_MAX)
        return false;
    claim->ticket_size = ORIGIN + bytes[ORIGIN_SIZE] + (size_t)HALF;
    const size_t server_at = claim->ticket_size + SERVER;
    if (decoded < server_at || decoded - server_at > SESSION_SERVER_TEXT)
        return false;
    claim->expires = load32(bytes + EXPIRES);
    memcpy(claim->client.ip, bytes + CLIENT, sizeof claim->client.ip);
    memcpy(claim->origin, bytes + ORIGIN, bytes[ORIGIN_SIZE]);
    memcpy(claim->number.ip, bytes + claim->ticket_size + NUMBER, sizeof claim->number.ip);
    memcpy(claim->fingerprint, bytes + claim->ticket_size + CERTIFICATE, 32);
    memcpy(claim->server, bytes + server_at, decoded - server_at);
    return true;
}

bool ticket_verify(struct ticket_claim *claim, const uint8_t secret[TICKET_SECRET_SIZE],
                   uint32_t now)
{
    uint8_t proof[2 * HALF];
    uint8_t hash[64];
    const size_t signed_size = claim->ticket_size - HALF;
    const size_t session_at = claim->ticket_size + SESSION;
    if (now >= claim->expires ||
        !sign(EVP_sha256(), secret, TICKET_SECRET_SIZE, claim->bytes, signed_size, proof) ||
        CRYPTO_memcmp(proof, claim->bytes + signed_size, HALF) != 0 ||
        !sign(EVP_sha512(), proof + HALF, HALF, claim->bytes, session_at, hash))
        return false;
    for (size_t i = 0; i < SESSION_KEY_SIZE; i++)
        claim->session_key[i] = (char)(claim->bytes[session_at + i] ^ hash[i]);
    put_base64(claim->password, hash + SESSION_KEY_SIZE, TICKET_PASSWORD / 4 * 3);
    return true;
}
