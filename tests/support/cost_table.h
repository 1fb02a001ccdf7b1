/* The table of relay/SECURITY.md that says how many instructions each kind of work costs. The tests
   that count them compare its rows with what they count, and write them when they are asked to:
   ctest -R 'hostile\.(tls_hello|rtc_certificate|rtc_work)$' -V shows how they are run, to which
   --write is added. */
#ifndef CAUSEWAY_TESTS_COST_TABLE_H
#define CAUSEWAY_TESTS_COST_TABLE_H

#include <stdbool.h>

/* Compares the row with this name, or writes its figure. Returns false when the row says much more
   or much less, or there is none. */
bool cost_table_row(const char *name, double instructions, bool write);

/* Returns whether the arguments after the relay's name ask to write. */
bool cost_table_asked(int argc, char **argv);

#endif
