// A page that is busy while its client goes on in a Worker.

/**
 * Returns how many datagrams a client sends while its page is busy for half a second, or for up to half a minute on a
 * machine whose other programs leave it fewer than `enough` in less.
 */
export const sentByBusyPage = (page, enough) =>
  page.evaluate(async (least) => {
    const { client } = globalThis;
    const sent = async () => (await client.stats()).transport.datagramsSent;
    let count = 0;
    for (let milliseconds = 500; milliseconds <= 32_000 && count < least; milliseconds *= 2) {
      const before = await sent();
      for (const end = performance.now() + milliseconds; performance.now() < end;);
      count = (await sent()) - before;
    }
    return count;
  }, enough);
