// The game in a page, played by a test, for Chromium's driver and Firefox's.
import { sleep as wait, until as patientlyUntil } from './patience.mjs';

/** Asks the page until it says yes. */
export const until = (page, what, ask, ...values) =>
  patientlyUntil(what, () => page.evaluate(ask, ...values), 100);

/** Waits until the page plays, over this transport if one is given; returns the transport. */
export async function playing(page, transport) {
  await until(page, 'it plays', () => {
    const { play } = globalThis.page ?? {};
    return play?.scene?.players.some(({ number }) => number === play.scene.me);
  });
  if (transport)
    await until(
      page,
      `it plays over ${transport}`,
      (kind) => globalThis.page.play?.client.transport === kind,
      transport,
    );
  return page.evaluate(() => globalThis.page.play.client.transport);
}

/** Sets a slider. */
export const slide = (page, id, value) =>
  page.evaluate(
    ([name, to]) => {
      const slider = document.getElementById(name);
      slider.value = to;
      slider.dispatchEvent(new Event('input'));
    },
    [id, String(value)],
  );

/** Runs about and shoots for so long, and measures the frames. */
async function runAbout(page, seconds, random) {
  await page.evaluate(() => {
    const times = (globalThis.frameTimes = []);
    let last = performance.now();
    const next = (now) => {
      times.push(now - last);
      last = now;
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
    document.getElementById('arena').focus();
  });
  const keys = ['ArrowLeft', 'ArrowUp', 'ArrowRight', 'ArrowDown'];
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    const pressed = [keys[Math.floor(random() * 4)], keys[Math.floor(random() * 4)]];
    for (const key of new Set(pressed)) await page.keyboard.down(key);
    if (random() < 0.7) await page.keyboard.down(' ');
    await wait(150 + random() * 500);
    for (const key of new Set(pressed)) await page.keyboard.up(key);
    await page.keyboard.up(' ');
  }
  const times = await page.evaluate(() => globalThis.frameTimes.slice(10).sort((a, b) => a - b));
  return times[Math.floor(times.length * 0.99)];
}

/** Returns the figures that the page has of itself. */
export const numbers = (page) =>
  page.evaluate(() => {
    const { play } = globalThis.page;
    const { compared, corrections } = play.game.stats().prediction;
    return { compared, corrections, lossSent: play.client.stats().lossSent };
  });

/** Returns where the page believes the player to be and where the server says it is, once it stands still. */
export const apart = (page) =>
  page.evaluate(() => {
    const { play } = globalThis.page;
    const own = play.scene.players.find(({ number }) => number === play.scene.me);
    const ghost = play.truth();
    return Math.hypot(own.x - ghost.x, own.y - ghost.y);
  });

/**
 * Plays for so long with 10 % loss each way. Once the loss has ended, the prediction has to agree with the server.
 */
export async function playThroughLoss(page, seconds, random) {
  await slide(page, 'loss', 10);
  const p99 = await runAbout(page, seconds, random);
  let lossy;
  await patientlyUntil(
    () => `loss and ${seconds * 10} states of the server: ${JSON.stringify(lossy)}`,
    async () => {
      lossy = await numbers(page);
      return lossy.lossSent > 0.03 && lossy.compared > seconds * 10;
    },
  );
  await slide(page, 'loss', 0);
  await wait(1500);
  await until(page, 'what is predicted is what the server says', () => {
    const { play } = globalThis.page;
    const own = play.scene.players.find((one) => one.number === play.scene.me);
    const truth = play.truth();
    return Math.hypot(own.x - truth.x, own.y - truth.y) < 0.02;
  });
  return { p99, ...(await numbers(page)) };
}
