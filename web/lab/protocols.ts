/** What the choice of a column says; a protocol that is not here goes by its own name. */
const NAMES: Readonly<Record<string, string>> = {
  plain: 'Causeway',
  redundancy: 'Causeway, redundant',
  repair: 'Causeway, coded repair',
  binary: 'Causeway, good/bad',
  rudp: 'Request-based',
  notify: 'Packet notification',
  tcp: 'TCP-like stream',
};

export const nameOf = (protocol: string): string => NAMES[protocol] ?? protocol;

/** The first protocol that no column has. */
export const another = (known: readonly string[], columns: readonly string[]): string =>
  known.find((protocol) => !columns.includes(protocol)) ?? known[0]!;
