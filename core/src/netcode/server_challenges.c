#include "netcode/server_challenges.h"
#include "netcode/crypto.h"

/* The numbers of packets outside a slot begin at a random number of so many bits, because all
   servers that a token names, also one that was started anew, encrypt with the same keys. The
   numbers stay below the bits that say why a client is denied. */
#define RANDOM_BITS (((uint64_t)1 << 60) - 1)

void cw_challenges_start(struct cw_challenges *challenges)
{
    const struct cw_random *random = &challenges->config->random;
    cw_random_fill(random, challenges->key, CW_KEY_BYTES);
    cw_random_fill(random, (uint8_t *)&challenges->sequence, sizeof(challenges->sequence));
    challenges->sequence = CW_SEQUENCE_OUTSIDE_SLOT | (challenges->sequence & RANDOM_BITS);
}

size_t cw_challenges_write(struct cw_challenges *challenges, const struct cw_challenge_token *token,
                           uint64_t mark, const uint8_t key[CW_KEY_BYTES], uint8_t *out,
                           size_t capacity)
{
    uint8_t sealed[CW_CHALLENGE_TOKEN_SIZE], body[CW_CHALLENGE_BODY_SIZE];
    const uint64_t number = challenges->number++ | mark;
    cw_challenge_token_seal(token, number, challenges->key, sealed);
    cw_challenge_put(number, sealed, body);
    challenges->sent++;
    return cw_secure_write(
        &(struct cw_secure_packet){.type = CW_SECURE_CHALLENGE,
                                   .sequence = challenges->sequence++,
                                   .body = body,
                                   .size = sizeof(body)},
        &(struct cw_secure_key){.protocol_id = challenges->config->protocol_id, .bytes = key}, out,
        capacity);
}

bool cw_challenges_open(const struct cw_challenges *challenges,
                        const uint8_t body[CW_CHALLENGE_BODY_SIZE], uint64_t *number,
                        struct cw_challenge_token *token)
{
    const uint8_t *sealed = cw_challenge_get(body, number);
    return cw_challenge_token_open(sealed, *number, challenges->key, token);
}
