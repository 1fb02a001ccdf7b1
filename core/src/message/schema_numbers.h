/* The numbers in a struct of the schema, as doubles: its floats and its 32-bit integers, wherever
   they are. They serve modules that need the distance between states, not only whether they are
   equal. */
#ifndef CAUSEWAY_SCHEMA_NUMBERS_H
#define CAUSEWAY_SCHEMA_NUMBERS_H

#include "causeway/schema.h"

struct cw_schema_number {
    enum cw_kind kind;
    uint32_t offset; /* offset in the struct */
    uint32_t field;  /* the field of the message that this number is part of */
    uint32_t item;   /* the item that it is in; CW_FIELD_NONE: none */
};

/* An item of an array or the value of an option, which may be absent. */
struct cw_schema_item {
    uint32_t offset; /* the offset of the array's count or the option's flag */
    uint32_t index;  /* its index in the array */
    bool optional;
    uint32_t parent; /* the item that this is in, CW_FIELD_NONE for none */
};

struct cw_schema_numbers {
    uint32_t count, item_count;
    struct cw_schema_number *numbers;
    struct cw_schema_item *items;
};

/* Sets both counts, and lists numbers and items where the pointers are not NULL. There are none for
   a type with a function of its own, or when there is no such type. */
void cw_schema_list_numbers(const struct cw_schema *schema, uint32_t type,
                            struct cw_schema_numbers *list);

/* Returns whether the struct has this number. Array counts and options may leave it out. */
bool cw_schema_has_number(const struct cw_schema_numbers *list,
                          const struct cw_schema_number *number, const void *message);

double cw_schema_get_number(const struct cw_schema_number *number, const void *message);

/* Sets a number. For an integer the value is rounded and kept within 32 bits. */
void cw_schema_set_number(const struct cw_schema_number *number, void *message, double value);

#endif
