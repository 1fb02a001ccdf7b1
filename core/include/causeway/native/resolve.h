/* Host names. */
#ifndef CAUSEWAY_NATIVE_RESOLVE_H
#define CAUSEWAY_NATIVE_RESOLVE_H

#include "causeway/address.h"
#include "causeway/base.h"
#include "causeway/error.h"

CW_BEGIN_DECLARATIONS

/* Reads everything that cw_address_parse reads, and also "example.com" and "example.com:40000". For
   names it asks the system's resolver, which may block for seconds. It takes the first IPv4
   address, because many game servers listen on IPv4 only, or the first IPv6 address if there is no
   IPv4 one. Errors: CW_ERROR_ADDRESS for text in any other form, CW_ERROR_HOST when the name has no
   address. */
enum cw_error cw_resolve(const char *text, struct cw_address *address);

CW_END_DECLARATIONS

#endif
