// A page that is busy while its client goes on in a Worker.

/**
 * Returns how many datagrams fewer a client sends while its page is busy for half a second than while it waits for as
 * long: the least of some rounds, as other programs on the machine cost some too.
 */
export const lostToBusyPage = (page, rounds = 6) =>
  page.evaluate(async (most) => {
    const { client } = globalThis;
    const sentDuring = async (wait) => {
      const before = (await client.stats()).transport.datagramsSent;
      await wait(500);
      return (await client.stats()).transport.datagramsSent - before;
    };
    const idle = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
    const busy = (milliseconds) => {
      const end = performance.now() + milliseconds;
      while (performance.now() < end);
    };
    let least = Infinity;
    for (let round = 0; round < most && least > 1; round++) {
      const usual = await sentDuring(idle);
      if (usual < 5) throw new Error(`only ${usual} datagrams in half a second`);
      least = Math.min(least, usual - (await sentDuring(busy)));
    }
    return least;
  }, rounds);
