/* Binding requests as a browser sends them, for tests and load. */
#ifndef CAUSEWAY_RELAY_STUN_REQUEST_H
#define CAUSEWAY_RELAY_STUN_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STUN_REQUEST_SIZE 1400

enum {
    STUN_WITHOUT_USERNAME = 1,
    STUN_WITHOUT_INTEGRITY = 2,
    STUN_WITHOUT_FINGERPRINT = 4,
};

/* Writes a request into STUN_REQUEST_SIZE bytes; when `extra` is not 0, an attribute of that type
   without a value is put before the signature. */
size_t stun_request(uint8_t *out, const char *username, const char *password, uint16_t extra,
                    unsigned without);

/* Does the same with a DTLS datagram of at most 1200 bytes embedded; size 0 is an empty
   attribute. */
size_t stun_request_embed(uint8_t *out, const char *username, const char *password,
                          const uint8_t *dtls, size_t size);

/* Writes the checksum of a changed request anew. */
void stun_request_fingerprint(uint8_t *data, size_t size);

/* Returns true when a response carries a signature made with password, and a right checksum. */
bool stun_response_is_signed(const uint8_t *data, size_t size, const char *password);

#endif
