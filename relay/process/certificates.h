/* A look at all certificates before the relay needs them. */
#ifndef CAUSEWAY_RELAY_CERTIFICATES_H
#define CAUSEWAY_RELAY_CERTIFICATES_H

#include "options/options.h"

#include <stdbool.h>

/* Returns whether the files of certificates and keys that the options name can be used. Logs which
   cannot, and why. */
bool certificates_check(const struct options *options);

#endif
