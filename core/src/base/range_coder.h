/* A range coder: bits that are likely cost less than one bit, by models that learn what is likely.

   One set of functions writes and reads: each takes a pointer to a value, which a writing coder
   takes from there and a reading coder puts there. Both ends must begin with the same models and
   use them in the same order. All arithmetic is in integers, so every machine gets the same bytes.
   A writer fails at the end of its buffer, a reader when it needs more bytes than there are. After
   a failure all functions return false. No reader looks past its bytes, and the work of each call
   is bounded by what it was asked for. */
#ifndef CAUSEWAY_RANGE_CODER_H
#define CAUSEWAY_RANGE_CODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The likelihood that a bit is set. */
struct cw_range_model {
    uint16_t chance; /* out of 65536 */
    uint8_t seen;    /* the number of bits that it stands for: the more, the slower it learns */
};

/* A model that begins with a chance out of 65536, which counts like `seen` bits. 32768 and 0 know
   nothing yet. */
static inline struct cw_range_model cw_range_model_begin(uint16_t chance, uint8_t seen)
{
    return (struct cw_range_model){chance, seen};
}

/* A coder. The members are private. */
struct cw_range_coder {
    uint8_t *out; /* NULL: the coder reads */
    const uint8_t *data;
    size_t size; /* the end of the buffer */
    size_t position;
    uint32_t low; /* reading: the distance of the bytes above it */
    uint32_t range;
    bool failed;
};

/* Writes into out, which holds capacity bytes and stays the caller's. */
struct cw_range_coder cw_range_writer(uint8_t *out, size_t capacity);

/* Reads the size bytes at data. */
struct cw_range_coder cw_range_reader(const uint8_t *data, size_t size);

static inline bool cw_range_is_reading(const struct cw_range_coder *coder)
{
    return !coder->out;
}

/* Makes the coder fail from here on. Always returns false. */
bool cw_range_fail(struct cw_range_coder *coder);

/* Codes a bit, from which the model learns. */
bool cw_range_bit(struct cw_range_coder *coder, struct cw_range_model *model, bool *bit);

/* Codes the low 0 to 32 bits of value, without a model. The other bits of value must be 0. */
bool cw_range_bits(struct cw_range_coder *coder, uint32_t *value, unsigned bits);

/* Codes a number of `bits` bits, 1 to 8, from the high one down, each with a model of its own for
   what came before it: 1 << bits models, the first of which is not used. */
bool cw_range_tree(struct cw_range_coder *coder, struct cw_range_model *models, unsigned bits,
                   uint32_t *value);

/* Codes a number that is usually small: first the number of its bits, one step at a time, then the
   bits. Each step has a model in both arrays, of count models each, and the chance is the mean of
   the two; the last model is for all steps beyond. count is 1 to 32. */
bool cw_range_number(struct cw_range_coder *coder, struct cw_range_model *models,
                     struct cw_range_model *others, uint32_t count, uint32_t *value);

/* Ends the writing and returns how many bytes it took, 0 after a failure. */
size_t cw_range_finish(struct cw_range_coder *coder);

/* Returns whether a reader has used exactly the bytes that there are. */
bool cw_range_ended(const struct cw_range_coder *coder);

#endif
