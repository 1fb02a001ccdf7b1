/* Arithmetic on bytes as elements of the field GF(256): a sum is an XOR, a product is one of
   polynomials modulo x^8 + x^4 + x^3 + x + 1. There are no tables. Where many rows of bytes are
   multiplied, each by its own factor, the work they share is done once: for each row only an XOR
   for each bit of its factor is left. */
#ifndef CAUSEWAY_GF256_H
#define CAUSEWAY_GF256_H

#include <stddef.h>
#include <stdint.h>

#define CW_GF256_STRIP 64 /* bytes of a row that are worked on at once */
#define CW_GF256_ROWS  64 /* the most rows */

/* Factors by their bits: for each bit, the rows whose factor has it. */
struct cw_gf256_bits {
    uint64_t rows[8];
};

uint8_t cw_gf256_multiply(uint8_t a, uint8_t b);

/* The b with a * b = 1; 0 for 0, which has none. */
uint8_t cw_gf256_inverse(uint8_t a);

/* Splits factors, one for each of CW_GF256_ROWS rows, into their bits. */
struct cw_gf256_bits cw_gf256_split(const uint8_t *factors);

/* Returns a bit for each of 64 bytes that is not 0. */
uint64_t cw_gf256_non_zero(const uint8_t *bytes);

/* Adds to the strip `sum` a strip of each row in the set `which`, times the row's factor. Rows are
   stride bytes apart. */
void cw_gf256_gather(uint8_t *sum, const uint8_t *rows, size_t stride, uint64_t which,
                     const struct cw_gf256_bits *factors);

/* Adds the bytes, which are a number of strips, times the row's factor to each row in the set
   `which`. Rows are stride bytes apart, and so are their factors, which may lie in the first strip
   of the rows. */
void cw_gf256_scatter(uint8_t *rows, const uint8_t *factors, size_t stride, uint64_t which,
                      const uint8_t *bytes, uint32_t strips);

#endif
