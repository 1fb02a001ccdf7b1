#include "binary_stdout.h"

void binary_stdout(void)
{
    /* It always does. */
}
