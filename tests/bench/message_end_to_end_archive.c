/* Measures what message_end_to_end.c does, with the archive that users of the library link: each of
   its files was compiled alone. */
#define ARCHIVE true
#include "message_end_to_end.c"
