// Orders the functions of a module for gzip, which looks back for what it has seen already.

const CODE = 10; // the number of the section with the functions' bodies
const HEADER = 8; // bytes before the first section
const GRAM = 4; // bytes in a row that gzip finds again
const NEAR = 512; // bytes of the last functions with which the next one is compared

/** Returns the number at a place, as WebAssembly writes numbers, and the place behind it. */
const numberAt = (bytes, at) => {
  let value = 0;
  for (let shift = 0; ; shift += 7, at++) {
    value |= (bytes[at] & 127) << shift;
    if (bytes[at] < 128) return [value, at + 1];
  }
};

/** Returns the bodies of a module's functions, as bytes. */
const bodiesOf = (module) => {
  let [id, start, end] = [0, HEADER, HEADER];
  while (id !== CODE) {
    id = module[end];
    const [size, content] = numberAt(module, end + 1);
    [start, end] = [content, content + size];
  }
  const [count, first] = numberAt(module, start);
  let at = first;
  return Array.from({ length: count }, () => {
    const [size, code] = numberAt(module, at);
    const body = module.subarray(at, code + size);
    at = code + size;
    return body;
  });
};

const gramsOf = (body) => {
  const grams = new Set();
  for (let at = 0; at + GRAM <= body.length; at++) grams.add(body.readUInt32LE(at));
  return grams;
};

/**
 * Returns the numbers of a module's functions in a better order: the shortest one first, then always the one of which
 * the largest share stands in the last ones already.
 */
export const order = (module) => {
  const bodies = bodiesOf(module);
  const grams = bodies.map(gramsOf);
  const holders = new Map();
  grams.forEach((own, number) => {
    for (const gram of own) {
      if (!holders.has(gram)) holders.set(gram, []);
      holders.get(gram).push(number);
    }
  });

  const nearGrams = (ordered) => {
    const near = new Set();
    let size = 0;
    for (let i = ordered.length - 1; i >= 0 && size < NEAR; i--) {
      size += bodies[ordered[i]].length;
      for (const gram of grams[ordered[i]]) near.add(gram);
    }
    return near;
  };

  const left = new Set(bodies.keys());
  const ordered = [];
  while (left.size > 0) {
    const shared = new Array(bodies.length).fill(0);
    for (const gram of nearGrams(ordered)) for (const number of holders.get(gram)) shared[number]++;
    const share = (number) => shared[number] / Math.max(grams[number].size, 1);
    const isBetter = (a, b) =>
      share(a) > share(b) || (share(a) === share(b) && bodies[a].length < bodies[b].length);
    const next = [...left].reduce((best, number) => (isBetter(number, best) ? number : best));
    ordered.push(next);
    left.delete(next);
  }
  return ordered;
};
