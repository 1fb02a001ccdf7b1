/* IPv4 and IPv6 addresses with a port: parse, format, compare. This file does no lookups;
   causeway/native/socket.h resolves host names. */
#ifndef CAUSEWAY_ADDRESS_H
#define CAUSEWAY_ADDRESS_H

#include "causeway/base.h"
#include "causeway/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

/* The values are the ones in a connect token. */
enum cw_address_type {
    CW_ADDRESS_NONE = 0,
    CW_ADDRESS_IPV4 = 1,
    CW_ADDRESS_IPV6 = 2,
};

/* All zero means no address. */
struct cw_address {
    enum cw_address_type type;
    uint16_t port;     /* host byte order; 0: none */
    uint8_t bytes[16]; /* network byte order; IPv4 uses the first 4, the rest is ignored */
};

/* The longest text of an address in bytes, with its terminator. */
#define CW_ADDRESS_TEXT_SIZE 48

/* Reads "1.2.3.4", "1.2.3.4:5", "::1", "[::1]" or "[::1]:5" from a terminated string. IPv6 may be
   compressed and may end in an IPv4 address. Blanks, leading zeros in IPv4 or port, zones and
   trailing text are refused. Without a port in the text, port becomes 0. Returns CW_ERROR_ADDRESS
   for any other text. */
enum cw_error cw_address_parse(const char *text, struct cw_address *address);

/* Writes the form that RFC 5952 recommends, terminated, and returns text. Port 0 is left out,
   together with the brackets of an IPv6 address. An IPv4-mapped address ends in dotted decimals.
   CW_ADDRESS_NONE gives "none", which does not parse. */
const char *cw_address_format(const struct cw_address *address, char text[CW_ADDRESS_TEXT_SIZE]);

/* Orders addresses by type, then bytes, then port. An IPv4-mapped address is the IPv4 address in
   it, as it is for sockets. Returns a negative number, 0 or a positive one. */
int cw_address_compare(const struct cw_address *a, const struct cw_address *b);

/* Returns whether the two have the same type, bytes and port, where an IPv4 address equals itself
   mapped. */
bool cw_address_equal(const struct cw_address *a, const struct cw_address *b);

CW_END_DECLARATIONS

#endif
