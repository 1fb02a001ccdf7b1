#include "message/schema_numbers.h"

#include "message/schema_internal.h"

#include <math.h>

static bool is_number(enum cw_kind kind)
{
    return kind == CW_KIND_INT || kind == CW_KIND_UINT || kind == CW_KIND_FLOAT ||
           kind == CW_KIND_DOUBLE || kind == CW_KIND_COMPRESSED_FLOAT;
}

static uint32_t add_item(struct cw_schema_numbers *list, struct cw_schema_item item)
{
    if (list->items)
        list->items[list->item_count] = item;
    return list->item_count++;
}

static void add_number(struct cw_schema_numbers *list, struct cw_schema_number number)
{
    if (list->numbers)
        list->numbers[list->count] = number;
    list->count++;
}

/* Lists the numbers of one struct. base is the offset of the struct, and parent the item that it is
   in. */
static void list_fields(struct cw_schema_numbers *list, const struct cw_schema_steps *steps,
                        uint32_t base, uint32_t parent)
{
    for (uint32_t i = 0; i < steps->count; ++i) {
        const struct cw_schema_step *const step = &steps->at[i];
        const enum cw_kind kind = step->field->kind;
        if (!is_number(kind) && kind != CW_KIND_STRUCT)
            continue;
        uint32_t offset = base + step->value, item = parent;
        for (uint32_t index = 0; index == 0 || index < step->array; index++) {
            if (step->optional || step->array > 0)
                item = add_item(list, (struct cw_schema_item){base + step->offset, index,
                                                              step->optional, parent});
            if (kind == CW_KIND_STRUCT)
                list_fields(list, &step->nested, offset, item);
            else
                add_number(list, (struct cw_schema_number){kind, offset, step->index, item});
            offset += step->stride;
        }
    }
}

void cw_schema_list_numbers(const struct cw_schema *schema, uint32_t type,
                            struct cw_schema_numbers *list)
{
    list->count = list->item_count = 0;
    if (schema && type < schema->count)
        list_fields(list, &schema->types[type].steps, 0, CW_FIELD_NONE);
}

bool cw_schema_has_number(const struct cw_schema_numbers *list,
                          const struct cw_schema_number *number, const void *message)
{
    const uint8_t *const bytes = message;
    for (uint32_t at = number->item; at != CW_FIELD_NONE; at = list->items[at].parent) {
        const struct cw_schema_item *const item = &list->items[at];
        uint32_t count = bytes[item->offset] != 0;
        if (!item->optional)
            memcpy(&count, bytes + item->offset, sizeof count);
        if (item->index >= count)
            return false;
    }
    return true;
}

/* A value of 32 bits, of any kind. */
union word {
    int32_t i;
    uint32_t u;
    float f;
};

double cw_schema_get_number(const struct cw_schema_number *number, const void *message)
{
    const uint8_t *const value = (const uint8_t *)message + number->offset;
    union word word;
    double wide;
    if (number->kind == CW_KIND_DOUBLE) {
        memcpy(&wide, value, sizeof wide);
        return wide;
    }
    memcpy(&word, value, sizeof word);
    if (number->kind == CW_KIND_INT)
        return word.i;
    if (number->kind == CW_KIND_UINT)
        return word.u;
    return (double)word.f;
}

/* NaN becomes the least. */
static double round_within(double value, double least, double most)
{
    const double rounded = floor(value + 0.5);
    if (!(rounded > least))
        return least;
    return rounded < most ? rounded : most;
}

void cw_schema_set_number(const struct cw_schema_number *number, void *message, double value)
{
    uint8_t *const to = (uint8_t *)message + number->offset;
    union word word;
    if (number->kind == CW_KIND_DOUBLE) {
        memcpy(to, &value, sizeof value);
        return;
    }
    if (number->kind == CW_KIND_INT)
        word.i = (int32_t)round_within(value, INT32_MIN, INT32_MAX);
    else if (number->kind == CW_KIND_UINT)
        word.u = (uint32_t)round_within(value, 0, UINT32_MAX);
    else
        word.f = (float)value;
    memcpy(to, &word, sizeof word);
}
