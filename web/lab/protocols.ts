/** The names that the choice of a column shows; a protocol that is not listed is shown under its own name. */
const NAMES: Readonly<Record<string, string>> = {
  plain: 'Causeway',
  copies: 'Causeway, copies',
  coded: 'Causeway, coded repair',
  binary: 'Causeway, good/bad',
  rudp: 'Request-based',
  notify: 'Packet notification',
  tcp: 'TCP-like stream',
  nagle: 'TCP-like, Nagle',
  unacked: 'All unacked',
  thrice: 'Three times each',
  tenth: 'Again after 0.1 s',
};

export const nameOf = (protocol: string): string => NAMES[protocol] ?? protocol;

/** Returns the first protocol that no column has. */
export const another = (known: readonly string[], columns: readonly string[]): string =>
  known.find((protocol) => !columns.includes(protocol)) ?? known[0]!;
