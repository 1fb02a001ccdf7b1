#include "binary_stdout.h"

void binary_stdout(void)
{
    /* Standard output always carries bytes as they are here. */
}
