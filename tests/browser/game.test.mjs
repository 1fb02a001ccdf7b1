// The game in a real Chromium, through the real relay, with the native game server.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startDemo } from '../support/demo.mjs';
import { apart, playThroughLoss, playing, slide, until } from '../support/game_page.mjs';
import { randomFrom } from '../support/random.mjs';
import { newPage, startChromium } from '../support/browsers.mjs';
import { PATIENCE_MS, until as patientlyUntil } from '../support/patience.mjs';

const SECONDS = Number(process.env.GAME_SECONDS ?? 15);
const pictures = join(process.env.CAUSEWAY_BUILD, 'screenshots');
mkdirSync(pictures, { recursive: true });
const demo = await startDemo(test, '--rtc', '127.0.0.1:0');
const browser = await startChromium(test);

const open = async (t, parameters = {}, { from = demo, first, ...options } = {}) => {
  const page = await newPage(t, browser, { viewport: { width: 800, height: 500 }, ...options });
  if (first) await page.addInitScript(first);
  page.faults = [];
  page.on('pageerror', (error) => page.faults.push(error));
  await page.goto(from.page(parameters));
  // On a phone the panel would lie over the game.
  if (!options.isMobile) await page.locator('#lab summary').click();
  return page;
};

const picture = (page, name) => page.screenshot({ path: join(pictures, `${name}.png`) });

test(`${SECONDS} s at 10 % loss: what is predicted is what happens`, async (t) => {
  const page = await open(t);
  await playing(page, 'webrtc');
  const { p99, corrections, compared } = await playThroughLoss(page, SECONDS, randomFrom(1));
  t.diagnostic(`frames: 99 in 100 within ${p99.toFixed(1)} ms`);
  t.diagnostic(`${corrections} corrections of ${compared} states`);
  await picture(page, 'desktop');
  assert.deepEqual(page.faults, []);
});

test('nothing on the page tells a screen reader what changes all the time', async (t) => {
  const page = await open(t);
  await playing(page);
  assert.deepEqual(
    await page.$$eval('output, [aria-live], [role=status]', (live) => live.map(({ id }) => id)),
    ['state', 'winner', 'latency-value', 'jitter-value', 'loss-value', 'verdict', 'copied'],
  );
});

test('bots play with one who is alone, and go when another comes', async (t) => {
  const one = await open(t);
  await playing(one);
  await until(one, 'there are three bots', () => {
    const { players } = globalThis.page.play.scene;
    return players.filter(({ bot }) => bot).length === 3;
  });
  const two = await open(t, { transport: 'websocket' });
  assert.equal(await playing(two), 'websocket');
  for (const page of [one, two]) {
    await until(page, 'there are two, and no bot', () => {
      const { players } = globalThis.page.play.scene;
      return players.length === 2 && players.every(({ bot }) => !bot);
    });
    assert.deepEqual(page.faults, []);
  }
  const place = (page, number) =>
    page.evaluate(
      (of) => globalThis.page.play.scene.players.find((one) => one.number === of),
      number,
    );
  const me = await one.evaluate(() => globalThis.page.play.scene.me);
  const before = await place(two, me);
  await one.locator('#arena').focus();
  await one.keyboard.down('KeyS');
  await until(
    two,
    'the other one is seen to move',
    ([of, y]) => {
      const { players } = globalThis.page.play.scene;
      return players.find(({ number }) => number === of).y > y + 2;
    },
    [me, before.y],
  );
  await one.keyboard.up('KeyS');
  await one.close();
  await until(two, 'the one who left is gone', () =>
    globalThis.page.play.scene.players.every(
      ({ number, bot }) => bot || number === globalThis.page.play.scene.me,
    ),
  );
  await two.close();
});

test('the switch of prediction is felt: without it a move waits for the server', async (t) => {
  const page = await open(t);
  await playing(page);
  await slide(page, 'latency', 150);
  await until(page, 'the latency is seen', () => globalThis.page.play.client.stats().rtt > 0.28);
  /** Returns whether the server has reported a move by the time it is first shown. */
  const toldFirst = async (key) => {
    await page.locator('#arena').focus();
    const shown = page.evaluate(
      () =>
        new Promise((resolve) => {
          const { play } = globalThis.page;
          const x = () => play.scene.players.find(({ number }) => number === play.scene.me).x;
          const before = { shown: x(), served: play.truth().x };
          const look = () =>
            Math.abs(x() - before.shown) > 0.05
              ? resolve(play.truth().x !== before.served)
              : requestAnimationFrame(look);
          look();
        }),
    );
    await page.keyboard.down(key);
    const result = await shown;
    await page.keyboard.up(key);
    await until(page, 'it stands still', async () => {
      const { play } = globalThis.page;
      const before = play.truth().x;
      await new Promise((resolve) => setTimeout(resolve, 500));
      return play.truth().x === before;
    });
    return result;
  };
  // A page that gets no turn for a round trip shows a predicted move no sooner.
  let key;
  const moveOn = () => toldFirst((key = key === 'ArrowRight' ? 'ArrowLeft' : 'ArrowRight'));
  await patientlyUntil('a move before the server tells', async () => !(await moveOn()));
  await page.locator('#prediction').uncheck();
  assert.equal(await moveOn(), true);
});

test('a finger moves the player and does not scroll the page; 320 px are enough', async (t) => {
  for (const [name, size] of Object.entries({
    phone: { width: 390, height: 844 },
    small: { width: 320, height: 568 },
  })) {
    const page = await open(t, {}, { viewport: size, hasTouch: true, isMobile: true });
    await playing(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= size.width, `${name}: the page is ${wide} px wide`);
    assert.equal(await page.evaluate(() => document.getElementById('lab').open), false);
    const before = await page.evaluate(() => globalThis.page.play.truth());
    const touch = await page.context().newCDPSession(page);
    const at = { x: 80, y: 200 };
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [at] });
    await touch.send('Input.dispatchTouchEvent', {
      type: 'touchMove',
      touchPoints: [{ x: 80, y: 280 }],
    });
    await until(
      page,
      'the finger moves the player',
      ({ x, y }) => {
        const now = globalThis.page.play.truth();
        return Math.hypot(now.x - x, now.y - y) > 1;
      },
      before,
    );
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    assert.equal(await page.evaluate(() => scrollY), 0);
    await picture(page, name);
    assert.deepEqual(page.faults, []);
    await page.close();
  }
});

test("a cheater sees his claim, and then the server's word", async (t) => {
  const page = await open(t);
  await playing(page);
  await slide(page, 'latency', 150);
  await until(page, 'the latency is seen', () => globalThis.page.play.client.stats().rtt > 0.28);
  // Each frame is looked at, from the press of the button until the server's word has come.
  const { seen, text } = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const { play } = globalThis.page;
        const before = play.truth().x;
        const seen = [];
        const end = performance.now() + 60_000;
        document.getElementById('cheat').click();
        const look = () => {
          const { me, players } = play.scene;
          const { x } = players.find(({ number }) => number === me);
          seen.push({ moved: Math.abs(x - before), served: Math.abs(play.truth().x - before) });
          const text = document.getElementById('verdict').textContent;
          const over = text.includes('its word stands') && seen.at(-1).moved < 2;
          if (over || performance.now() > end) resolve({ seen, text });
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      }),
  );
  t.diagnostic(text);
  assert.ok(Math.max(...seen.map(({ moved }) => moved)) > 8, 'he is seen far away');
  assert.ok(Math.max(...seen.map(({ served }) => served)) < 2, 'the server never has him there');
  assert.ok(seen.at(-1).moved < 2, 'he is back where he was');
  const [, x, speed, trueSpeed] = text.match(
    /^You claimed to be at ([\d.]+), [\d.]+ m at (\d+) m\/s\. The server says [\d.]+, [\d.]+ m at (\d+) m\/s: its word stands\.$/,
  );
  assert.ok(x === '2.0' || x === '30.0');
  assert.equal(speed, '60');
  assert.ok(trueSpeed < 10);
  await picture(page, 'cheat');
  assert.deepEqual(page.faults, []);
});

test('without interpolation the others move in jumps', async (t) => {
  const page = await open(t);
  await playing(page);
  await until(page, 'there are bots', () =>
    globalThis.page.play.scene.players.some(({ bot }) => bot),
  );
  /** Returns the share of frames in which a bot has moved though the page shows the same snapshot. */
  const moving = () =>
    page.evaluate(
      () =>
        new Promise((resolve) => {
          const { play } = globalThis.page;
          const moved = [];
          let last = {};
          const look = () => {
            const { players } = play.scene;
            const bots = players.filter(({ bot }) => bot).map(({ x, y }) => `${x} ${y}`);
            const { from } = play.game.stats().view;
            if (from === last.from) moved.push(...bots.map((at, i) => at !== last.bots[i]));
            last = { from, bots };
            if (moved.length < 500) requestAnimationFrame(look);
            else resolve(moved.filter(Boolean).length / moved.length);
          };
          look();
        }),
    );
  const smooth = await moving();
  assert.ok(smooth > 0.2, `they move in ${smooth} of the frames`);
  await page.locator('#interpolation').uncheck();
  assert.equal(await moving(), 0);
});

test('the dark page', async (t) => {
  const page = await open(t, {}, { colorScheme: 'dark' });
  await playing(page);
  await page.locator('#ghost').check();
  await slide(page, 'latency', 100);
  await until(page, 'the latency is seen', () => globalThis.page.play.client.stats().rtt > 0.18);
  assert.ok((await apart(page)) < 0.5);
  await picture(page, 'dark');
});

/** Notes whether WebRTC was still being tried when the page turned to WebSocket. */
function noteTransports() {
  const tried = [];
  globalThis.RTCPeerConnection = class extends globalThis.RTCPeerConnection {
    constructor(...values) {
      super(...values);
      tried.push(this);
    }
  };
  globalThis.WebSocket = class extends globalThis.WebSocket {
    constructor(...values) {
      super(...values);
      globalThis.impatient = tried.some(({ signalingState }) => signalingState !== 'closed');
    }
  };
}

/** Waits until the page plays over WebSocket; returns whether it did so without waiting for WebRTC to fail. */
const fallBack = async (t, ...options) => {
  const other = await startDemo(t, ...options);
  const page = await open(t, {}, { from: other, first: noteTransports });
  await page.waitForFunction(() =>
    document.getElementById('state').textContent.endsWith('WebSocket'),
  );
  await playing(page);
  const impatient = await page.evaluate(() => globalThis.impatient);
  return impatient;
};

test('over WebSocket when the relay has no WebRTC', (t) => fallBack(t));

test('over WebSocket when UDP does not come through, long before that is sure', async (t) => {
  assert.equal(await fallBack(t, '--rtc', '127.0.0.1:0', '--rtc-advertise', '127.0.0.1:9'), true);
});

test('the transport is changed while playing', async (t) => {
  const page = await open(t);
  await playing(page, 'webrtc');
  await page.locator('input[value="websocket"]').check();
  await page.waitForFunction(() =>
    document.getElementById('state').textContent.endsWith('WebSocket'),
  );
  await playing(page, 'websocket');
});

test('the page says that the game has ended, and plays again when asked', async (t) => {
  const page = await open(t, { transport: 'websocket' });
  await playing(page);
  demo.server.kill('SIGSTOP');
  await page.waitForFunction(() => !document.getElementById('ended').hidden, undefined, {
    timeout: PATIENCE_MS,
  });
  assert.match(await page.textContent('#reason'), /^The game has ended: ./);
  await picture(page, 'ended');
  demo.server.kill('SIGCONT');
  await page.locator('#retry').click();
  await playing(page);
});
