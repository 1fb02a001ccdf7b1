/* Counts the instructions that a part of this program executes, by callgrind: no other load on the
   machine changes that. */
#ifndef CAUSEWAY_TESTS_INSTRUCTIONS_H
#define CAUSEWAY_TESTS_INSTRUCTIONS_H

/* Must come first in main: runs the program anew under callgrind, unless it runs under callgrind
   already. */
void instructions_begin(char **argv);

/* Counts the instructions from now on. */
void instructions_start(void);

/* Returns the number of instructions since instructions_start. */
double instructions_stop(void);

#endif
