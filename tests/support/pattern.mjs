/** Returns bytes that differ from one seed, and from one place, to the next. */
export function pattern(size, seed = 0) {
  const bytes = Buffer.alloc(size);
  for (let i = 0; i < size; i++) bytes[i] = (i * 131 + seed * 17 + (i >> 8)) & 0xff;
  return bytes;
}
