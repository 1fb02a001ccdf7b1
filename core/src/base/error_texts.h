/* The sentences for the errors of one module. Each module has such a list beside its code. The
   whole library looks through all of them in cw_error_string, and a WebAssembly module only through
   the lists of the code that it holds. */
#ifndef CAUSEWAY_ERROR_TEXTS_H
#define CAUSEWAY_ERROR_TEXTS_H

#include "causeway/base.h"

#include <stdint.h>

/* The sentences of the errors that follow one another from `first` on: each ends with a zero, and
   an empty one ends the list. Pointers to them would make a page's module larger. */
struct cw_error_texts {
    uint32_t first;
    const char *texts;
};

/* Returns the sentence of an error that one of the tables has, or NULL. */
const char *cw_error_text(enum cw_error error, const struct cw_error_texts *const *tables,
                          uint32_t count);

#define CW_ERROR_TEXTS(table, first_error, sentences)                                              \
    extern const struct cw_error_texts table;                                                      \
    const struct cw_error_texts table = {first_error, sentences};

/* The table of a list such as

       #define ERRORS(ERROR)                                               \
           ERROR(NO_MEMORY, "the allocator returned no memory")            \
           ERROR(ADDRESS, "this is not an address")
       CW_ERROR_LIST(cw_thing_errors, CW_ERROR_NO_MEMORY, ERRORS)

   which has the order of the errors. */
#define CW_ERROR_LIST(table, first_error, ERRORS)                                                  \
    enum { table##_before = (int)(first_error)-1, ERRORS(CW_ERROR_PLACE) };                        \
    ERRORS(CW_ERROR_ORDER)                                                                         \
    CW_ERROR_TEXTS(table, first_error, ERRORS(CW_ERROR_SENTENCE))

#define CW_ERROR_PLACE(name, sentence) PLACE_OF_##name,
#define CW_ERROR_ORDER(name, sentence)                                                             \
    _Static_assert((int)PLACE_OF_##name == (int)CW_ERROR_##name, "the order of the errors");
#define CW_ERROR_SENTENCE(name, sentence) sentence "\0"

#endif
