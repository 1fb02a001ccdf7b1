// The demo as a visitor finds it: what the page says, how it fills the window, and what stands out from the ground.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { faultsOf } from '../support/axe.mjs';
import { newPage, startChromium } from '../support/browsers.mjs';
import { startDemo } from '../support/demo.mjs';
import { playing } from '../support/game_page.mjs';
import { require } from '../support/packages.mjs';

const { renderSVG } = require('uqr');
const pictures = join(process.env.CAUSEWAY_BUILD, 'screenshots');
mkdirSync(pictures, { recursive: true });
const demo = await startDemo(test, '--rtc', '127.0.0.1:0');
const browser = await startChromium(test);

const open = async (t, { parameters, first, ...options } = {}) => {
  const page = await newPage(t, browser, { viewport: { width: 1440, height: 900 }, ...options });
  if (first) await page.addInitScript(first);
  page.faults = [];
  page.on('pageerror', (error) => page.faults.push(error));
  await page.goto(demo.page(parameters));
  await playing(page);
  return page;
};

test('the page says what Causeway is, how to start, and where the guides are', async (t) => {
  const page = await open(t);
  assert.match(await page.locator('header').innerText(), /Causeway\s+carries game packets [^.]+\./);
  assert.equal(await page.locator('#start code').innerText(), 'npx causeway-net init my-game');
  for (const property of ['og:title', 'og:description', 'og:image'])
    assert.notEqual(await page.getAttribute(`meta[property="${property}"]`, 'content'), '');
  assert.match(await page.getAttribute('meta[name=description]', 'content'), /Causeway/);
  const linked = await page.$$eval('nav a, meta[property="og:image"]', (links) =>
    links.map((link) => link.href ?? new URL(link.content, location.href).href),
  );
  assert.equal(linked.length, 5);
  for (const address of linked) {
    const response = await page.request.get(address);
    assert.equal(response.status(), 200, address);
    assert.match(response.headers()['content-type'], /^(text\/(plain|html)|image\/jpeg)/, address);
  }
});

test('the arena fills the window that the bars leave', async (t) => {
  for (const viewport of [
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
  ]) {
    const page = await open(t, { viewport });
    const { width, height } = await page.locator('#arena').boundingBox();
    assert.equal(width, viewport.width);
    assert.ok(height > viewport.height * 0.7, `the arena is ${height} px high`);
    const scrolls = await page.evaluate(() => document.documentElement.scrollHeight > innerHeight);
    assert.equal(scrolls, false);
    await page.close();
  }
});

test('a preset makes the network worse, and another makes it good again', async (t) => {
  const page = await open(t);
  await page.locator('#lab summary').click();
  const preset = (name) => page.getByRole('button', { name });
  await preset('Satellite').click();
  assert.equal(await preset('Satellite').getAttribute('aria-pressed'), 'true');
  assert.equal(await page.locator('#latency-value').innerText(), '280 ms each way');
  await page.waitForFunction(() => globalThis.page.play.client.stats().rtt > 0.4);
  await preset('Good line').click();
  assert.equal(await preset('Satellite').getAttribute('aria-pressed'), 'false');
  await page.waitForFunction(() => globalThis.page.play.client.stats().rtt < 0.3);
});

for (const colorScheme of ['light', 'dark'])
  test(`in the ${colorScheme} scheme all bodies stand out from the ground by 3 to 1`, async (t) => {
    const page = await open(t, { colorScheme });
    const contrasts = await page.evaluate(async () => {
      const { colorOf } = await import('/colors.js');
      const style = getComputedStyle(document.getElementById('arena'));
      const floor = style.getPropertyValue('--floor');
      const context = document.createElement('canvas').getContext('2d');
      const luminance = (color) => {
        context.fillStyle = color;
        context.fillRect(0, 0, 1, 1);
        const [red, green, blue] = [...context.getImageData(0, 0, 1, 1).data].map((part) => {
          const share = part / 255;
          return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
      };
      const under = luminance(floor);
      const players = Array.from({ length: 32 }, (_, player) => colorOf(player, floor));
      return [style.getPropertyValue('--idle'), ...players].map((color) => {
        const over = luminance(color);
        return Math.max(over, under) / Math.min(over, under);
      });
    });
    assert.ok(Math.min(...contrasts) >= 3, `the least contrast is ${Math.min(...contrasts)}`);
  });

test('the stream brings everything in order, and a lost packet holds up all later ones', async (t) => {
  const page = await open(t);
  const delivered = await page.evaluate(async () => {
    const { OrderedStream } = await import('/ordered.js');
    const stream = new OrderedStream(() => 0.5);
    const line = { rtt: 0.1, loss: 0.2 };
    const delivered = [[...stream.take(0)]];
    // A packet each 30 ms; 7 is lost, and 10 is overtaken by 11.
    for (const [i, number] of [5, 6, 8, 9, 11, 10, 12, 13, 14].entries()) {
      stream.receive(number, `entry ${number}`, i * 0.03, line);
      delivered.push([...stream.take(i * 0.03)]);
    }
    return delivered;
  });
  assert.deepEqual(delivered.splice(0, 3), [[], ['entry 5'], ['entry 6']]);
  // The third packet after the gap has come at 120 ms, so 7 is sent again, and is there a round trip later.
  assert.deepEqual(delivered.splice(0, 6), [[], [], [], [], [], []]);
  assert.deepEqual(
    delivered[0],
    [8, 9, 10, 11, 12, 13, 14].map((number) => `entry ${number}`),
  );
});

test('bad Wi-Fi is on at the start, and holds up the half of TCP', async (t) => {
  const page = await open(t, { parameters: { network: '' } });
  assert.equal(await page.locator('#bad').isChecked(), true);
  const seconds = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const begun = performance.now();
        const look = () => {
          const { play } = globalThis.page;
          const later = play.streamedScene.behindSeconds - play.scene.behindSeconds;
          if (later > 0.15) resolve((performance.now() - begun) / 1000);
          else requestAnimationFrame(look);
        };
        look();
      }),
  );
  t.diagnostic(`150 ms later than Causeway's after ${seconds.toFixed(1)} s`);
  await page.locator('#bad').uncheck();
  await page.waitForFunction(() => {
    const { play } = globalThis.page;
    return play.streamedScene.behindSeconds < play.scene.behindSeconds + 0.02;
  });
});

test('beside TCP or alone: the player is where the mouse aims from, in both halves', async (t) => {
  const page = await open(t);
  const turned = async (x) => {
    await page.mouse.move(x, 450);
    return page.evaluate(
      () =>
        new Promise((resolve) => {
          let looks = 0;
          const look = () => {
            const { play } = globalThis.page;
            const own = play.scene.players.find(({ number }) => number === play.scene.me);
            if (++looks < 30) requestAnimationFrame(look);
            else resolve(Math.sign(own.aim.x));
          };
          look();
        }),
    );
  };
  // The player begins near the left wall, so both edges of each half are on either side of it.
  assert.deepEqual([await turned(4), await turned(716)], [-1, 1]);
  assert.deepEqual([await turned(724), await turned(1436)], [-1, 1]);
  await page.locator('#split').uncheck();
  assert.equal(await turned(724), 1);
  assert.equal(await page.locator('#halves').isVisible(), false);
});

test('the link of the game is shown with its code, without the network of the sender', async (t) => {
  const page = await open(t);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.locator('#send').click();
  const address = await page.locator('#address').inputValue();
  const { origin, searchParams } = new URL(address);
  assert.equal(origin, new URL(demo.relay.url).origin);
  assert.deepEqual([...searchParams.keys()], ['backend']);
  const code = page.locator('#code svg');
  await code.waitFor();
  const drawn = await page.evaluate(() => document.getElementById('code').innerHTML);
  const other = await page.evaluate(
    (svg) => Object.assign(document.createElement('div'), { innerHTML: svg }).innerHTML,
    renderSVG(address, { border: 2 }),
  );
  assert.equal(drawn, other);
  assert.match(await page.locator('#own').innerText(), /Only this machine finds/);
  await page.locator('#copy').click();
  await page.getByText('Copied.').waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), address);
  assert.deepEqual(await faultsOf(page), []);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#sharing').isVisible(), false);
  assert.deepEqual(page.faults, []);
});

test('the thumbs have sticks, which follow the fingers; a mouse has none', async (t) => {
  const wide = await open(t);
  const sticks = (page) => page.evaluate(() => globalThis.page.controls.sticks());
  assert.deepEqual(await sticks(wide), []);
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  const page = await open(t, phone);
  const [left, right] = await sticks(page);
  assert.ok(left.middle.x < 195 && right.middle.x > 195, 'one for each thumb');
  assert.deepEqual([left.held, right.held], [false, false]);
  const top = (await page.locator('#arena').boundingBox()).y;
  const touch = await page.context().newCDPSession(page);
  const at = (x, y) => [{ x, y: y + top }];
  await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: at(100, 400) });
  await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: at(100, 500) });
  await page.waitForFunction(() => globalThis.page.controls.sticks()[0].held);
  const [held] = await sticks(page);
  assert.deepEqual(held.middle, { x: 100, y: 400 });
  assert.deepEqual(held.knob, { x: 100, y: 450 }, 'no further than its ring');
  await page.screenshot({ path: join(pictures, 'demo-sticks.png') });
  await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await page.waitForFunction(() => !globalThis.page.controls.sticks()[0].held);
});

test('a player has a name, as long as it fits, and a round has a clock and a winner', async (t) => {
  const one = await open(t);
  const other = await open(t);
  await one.locator('#name').fill('Äöü 🦊 of the seven seas');
  await one.keyboard.press('Enter');
  assert.equal(await one.locator('#name').inputValue(), 'Äöü 🦊 of t');
  await other.locator('#scores').getByText('Äöü 🦊 of t: ').waitFor();
  await one.waitForFunction(() => /^[01]:\d\d$/.test(document.getElementById('clock').textContent));
  const says = await one.evaluate(async () => {
    const { Referee } = await import('/referee.js');
    const referee = new Referee();
    const winner = document.getElementById('winner');
    const [seen, { page }] = [[], globalThis];
    // The page's own game shows its rounds no more.
    page.play.stop();
    page.play = undefined;
    const show = (secondsPassed, name) => {
      const won = name && { name, bodies: 54 };
      referee.show({ secondsPassed, secondsLeft: 90 - secondsPassed, won });
      seen.push(`${document.getElementById('clock').textContent} ${winner.textContent}`);
    };
    show(0.5, 'You');
    show(2, 'Rook');
    show(7, 'Rook');
    show(2, undefined);
    return seen;
  });
  assert.deepEqual(says, [
    '1:30 You win the round with 54 bodies',
    '1:28 Rook wins the round with 54 bodies',
    '1:23 ',
    '1:28 ',
  ]);
  assert.deepEqual([...one.faults, ...other.faults], []);
});

test('there is no sound before it is switched on', async (t) => {
  const page = await open(t, { first: countSounds });
  const sounds = () => page.evaluate(() => globalThis.sounds);
  await page.waitForFunction(() => globalThis.page.play.scene.shots.length > 3);
  assert.deepEqual(await sounds(), { contexts: 0, shots: 0 });
  await page.locator('#sound').check();
  await page.waitForFunction(() => globalThis.sounds.shots > 0);
  assert.equal((await sounds()).contexts, 1);
  await page.locator('#sound').uncheck();
  const { shots } = await sounds();
  const seen = await page.evaluate(() => globalThis.page.play.scene.shots.at(-1).time);
  await page.waitForFunction((time) => globalThis.page.play.scene.shots.at(-1).time > time, seen);
  assert.equal((await sounds()).shots, shots);
});

function countSounds() {
  globalThis.sounds = { contexts: 0, shots: 0 };
  globalThis.AudioContext = class extends globalThis.AudioContext {
    constructor() {
      super();
      globalThis.sounds.contexts++;
    }
  };
  globalThis.OscillatorNode = class extends globalThis.OscillatorNode {
    constructor(...values) {
      super(...values);
      globalThis.sounds.shots++;
    }
  };
}
