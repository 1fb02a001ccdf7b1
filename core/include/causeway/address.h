/* IPv4 and IPv6 addresses with a port: parse, format, compare. Nothing is looked up here; host
   names are resolved by causeway/native/resolve.h. */
#ifndef CAUSEWAY_ADDRESS_H
#define CAUSEWAY_ADDRESS_H

#include "causeway/error.h"
#include "causeway/linkage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

/* The numbers are those of the connect token. */
enum cw_address_type {
    CW_ADDRESS_NONE = 0,
    CW_ADDRESS_IPV4 = 1,
    CW_ADDRESS_IPV6 = 2,
};

/* All zero is the address that is none. */
struct cw_address {
    enum cw_address_type type;
    uint16_t port;     /* host byte order; 0 where none is given */
    uint8_t bytes[16]; /* network byte order; IPv4 uses the first 4, the rest is ignored */
};

/* Bytes that hold the longest text with its terminator. */
#define CW_ADDRESS_TEXT_SIZE 48

/* Reads "1.2.3.4", "1.2.3.4:5", "::1", "[::1]" or "[::1]:5" from a terminated string. IPv6 may be
   compressed and may end in an IPv4 address. Strict: no blanks, no leading zeros in IPv4 and port,
   no zone, nothing behind it. Without a port, port becomes 0.
   CW_ERROR_ADDRESS when the text is anything else. */
enum cw_error cw_address_parse(const char *text, struct cw_address *address);

/* Writes the one text that RFC 5952 prefers, terminated, and returns text. Port 0 is left out, and
   with it the brackets of an IPv6 address; an IPv4-mapped address ends in dotted decimals.
   CW_ADDRESS_NONE gives "none", which does not parse. */
const char *cw_address_format(const struct cw_address *address, char text[CW_ADDRESS_TEXT_SIZE]);

/* An order over all addresses: negative, 0 or positive, by type, then bytes, then port. */
int cw_address_compare(const struct cw_address *a, const struct cw_address *b);

/* Same type, same bytes, same port. */
bool cw_address_equal(const struct cw_address *a, const struct cw_address *b);

CW_END_DECLARATIONS

#endif
