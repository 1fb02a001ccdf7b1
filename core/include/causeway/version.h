/* The version of the library. Before 1.0 a new minor version may break programs that use it. */
#ifndef CAUSEWAY_VERSION_H
#define CAUSEWAY_VERSION_H

#include "causeway/linkage.h"

CW_BEGIN_DECLARATIONS

/* The version is defined only here; CMake reads it from this file. */
#define CAUSEWAY_VERSION_MAJOR 0
#define CAUSEWAY_VERSION_MINOR 2
#define CAUSEWAY_VERSION_PATCH 0

#define CW_VERSION_QUOTE(major, minor, patch)  #major "." #minor "." #patch
#define CW_VERSION_EXPAND(major, minor, patch) CW_VERSION_QUOTE(major, minor, patch)

/* The version of these headers as text: "0.2.0". */
#define CAUSEWAY_VERSION                                                                           \
    CW_VERSION_EXPAND(CAUSEWAY_VERSION_MAJOR, CAUSEWAY_VERSION_MINOR, CAUSEWAY_VERSION_PATCH)

/* The version of the library that the program runs with. */
const char *cw_version(void);

CW_END_DECLARATIONS

#endif
