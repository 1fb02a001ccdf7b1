/* Arithmetic on bytes as elements of the field GF(256): a sum is an XOR, a product is one of
   polynomials modulo x^8 + x^4 + x^3 + x + 1. There are no tables: eight bytes are multiplied at
   once in a word. */
#ifndef CAUSEWAY_GF256_H
#define CAUSEWAY_GF256_H

#include <stddef.h>
#include <stdint.h>

uint8_t cw_gf256_multiply(uint8_t a, uint8_t b);

/* The b with a * b = 1; 0 for 0, which has none. */
uint8_t cw_gf256_inverse(uint8_t a);

/* Adds factor times each of the bytes to sum. size is a multiple of 8; bytes may be sum itself. */
void cw_gf256_add(uint8_t *sum, const uint8_t *bytes, uint8_t factor, size_t size);

#endif
