#include "rtc/ticket.h"

#include "rtc/big_endian.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

/* The members of a ticket begin at these bytes. */
enum { EXPIRES = 1, CLIENT = 5, NUMBER = 21, ORIGIN_SIZE = 29, ORIGIN = 30 };

/* The parts of H, and of what follows a ticket's signed bytes. */
#define PROOF       16
#define MASK        16
#define PASSWORD    24
#define H           64
#define CERTIFICATE 32
#define INIT        16

/* Writes base64 without padding, terminated. Returns its end. */
static char *put_base64(char *out, const uint8_t *data, size_t size)
{
    EVP_EncodeBlock((unsigned char *)out, data, (int)size);
    char *end = out + (size * 4 + 2) / 3;
    *end = '\0';
    return end;
}

static bool sign(const uint8_t secret[TICKET_SECRET_SIZE], const uint8_t *data, size_t size,
                 uint8_t out[H])
{
    return HMAC(EVP_sha512(), secret, TICKET_SECRET_SIZE, data, size, out, NULL) != NULL;
}

bool ticket_write(const struct ticket *ticket, const uint8_t secret[TICKET_SECRET_SIZE],
                  char out[TICKET_TEXT_SIZE], char password[TICKET_PASSWORD_SIZE])
{
    uint8_t bytes[ORIGIN + TICKET_ORIGIN_MAX + H] = {TICKET_VERSION};
    const size_t size = strlen(ticket->origin);
    if (size > TICKET_ORIGIN_MAX)
        return false;
    store32(bytes + EXPIRES, ticket->expires);
    memcpy(bytes + CLIENT, ticket->client.ip, sizeof ticket->client.ip);
    memcpy(bytes + NUMBER, ticket->number, sizeof ticket->number);
    bytes[ORIGIN_SIZE] = (uint8_t)size;
    memcpy(bytes + ORIGIN, ticket->origin, size);
    uint8_t *proof = bytes + ORIGIN + size;
    if (!sign(secret, bytes, ORIGIN + size, proof))
        return false;
    put_base64(password, proof + PROOF + MASK, PASSWORD);
    char *end = put_base64(out, bytes, ORIGIN + size + PROOF);
    *end = ' ';
    put_base64(end + 1, proof + PROOF, MASK);
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
    claim->signed_size = ORIGIN + (size_t)bytes[ORIGIN_SIZE];
    const size_t init_at = claim->signed_size + PROOF + CERTIFICATE + MASK;
    const size_t server_at = init_at + INIT;
    if (decoded < server_at || decoded - server_at > SESSION_SERVER_TEXT)
        return false;
    claim->expires = load32(bytes + EXPIRES);
    memcpy(claim->client.ip, bytes + CLIENT, sizeof claim->client.ip);
    memcpy(claim->origin, bytes + ORIGIN, bytes[ORIGIN_SIZE]);
    memcpy(claim->fingerprint, bytes + claim->signed_size + PROOF, CERTIFICATE);
    memcpy(claim->name.ip, claim->fingerprint, sizeof claim->name.ip);
    claim->sctp_init = (struct sctp_init){.tag = load32(bytes + init_at),
                                          .window = load32(bytes + init_at + 4),
                                          .streams = load16(bytes + init_at + 10),
                                          .tsn = load32(bytes + init_at + 12)};
    memcpy(claim->server, bytes + server_at, decoded - server_at);
    return true;
}

/* Writes a session's key as pages have it: in base64url. */
static void put_session_key(char out[SESSION_KEY_SIZE + 1], const uint8_t key[MASK])
{
    char text[25];
    put_base64(text, key, MASK);
    for (size_t i = 0; i <= SESSION_KEY_SIZE; i++)
        out[i] = text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i];
}

bool ticket_verify(struct ticket_claim *claim, const uint8_t secret[TICKET_SECRET_SIZE],
                   uint32_t now)
{
    uint8_t proof[H];
    uint8_t *mask = proof + PROOF;
    const uint8_t *expected = claim->bytes + claim->signed_size;
    if (now >= claim->expires || !sign(secret, claim->bytes, claim->signed_size, proof) ||
        CRYPTO_memcmp(proof, expected, PROOF) != 0)
        return false;
    put_base64(claim->password, mask + MASK, PASSWORD);
    for (size_t i = 0; i < MASK; i++)
        mask[i] ^= expected[PROOF + CERTIFICATE + i];
    put_session_key(claim->session_key, mask);
    return true;
}
