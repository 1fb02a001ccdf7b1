/* A mark for the functions of internal headers. */
#ifndef CAUSEWAY_SHARED_H
#define CAUSEWAY_SHARED_H

/* Gives each file that includes a function its own copy, for the compiler to inline. A build where
   size matters more than speed can link all its copies as one: the function has one name then, so
   it begins with cw_. */
#ifndef CW_SHARED
#define CW_SHARED static inline
#endif

#endif
