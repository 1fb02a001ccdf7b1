/* Standard output for bytes. Each platform has a file for it: binary_stdout_posix.c,
   binary_stdout_windows.c. */
#ifndef CAUSEWAY_TOOLS_BINARY_STDOUT_H
#define CAUSEWAY_TOOLS_BINARY_STDOUT_H

/* Makes standard output carry bytes as they are. Windows would put a carriage return before every
   newline. */
void binary_stdout(void);

#endif
