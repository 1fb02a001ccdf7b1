/* Host names. */
#ifndef CAUSEWAY_NATIVE_RESOLVE_H
#define CAUSEWAY_NATIVE_RESOLVE_H

#include "causeway/address.h"
#include "causeway/error.h"
#include "causeway/linkage.h"

CW_BEGIN_DECLARATIONS

/* Reads what cw_address_parse reads, and also "example.com" and "example.com:40000", for which the
   system's resolver is asked; that may block for seconds. Of the addresses it gives the first one
   of IPv4 is taken, because many game servers listen on IPv4 alone, else the first one of IPv6.
   Errors: CW_ERROR_ADDRESS for a text of another form, CW_ERROR_HOST when the name has no
   address. */
enum cw_error cw_resolve(const char *text, struct cw_address *address);

CW_END_DECLARATIONS

#endif
