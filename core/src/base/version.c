#include "causeway/base.h"

const char *cw_version(void)
{
    return CAUSEWAY_VERSION;
}
