#include "binary_stdout.h"

#include <fcntl.h>
#include <io.h>
#include <stdio.h>

void binary_stdout(void)
{
    (void)_setmode(_fileno(stdout), _O_BINARY);
}
