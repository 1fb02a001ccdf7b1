/* A mark for rare functions. */
#ifndef CAUSEWAY_OUTLINE_H
#define CAUSEWAY_OUTLINE_H

/* Keeps a function out of its callers, which would otherwise save the registers that only the rare
   case needs. Where size matters more than speed, the compiler decides. */
#if defined(__GNUC__) && defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__)
#define CW_OUTLINE __attribute__((noinline))
#else
#define CW_OUTLINE
#endif

/* Marks a function that hardly any program calls: the code of its callers leads straight past it.
 */
#if defined(__GNUC__)
#define CW_COLD __attribute__((cold))
#else
#define CW_COLD
#endif

#endif
