// Plays the game by one library on a bad path, and prints as JSON how old what is shown was, how often a player's own
// place was corrected, and how many bytes went over the path.
//   play.mjs LIBRARY    colyseus or causeway; runs under "unshare -Urn"
// With what players need to join as well it is the far side: all of them.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { randomFrom } from '../../support/random.mjs';
import { PLAYERS, walker } from './rules.mjs';

const PATH = { delay: 40, jitter: 20, seed: 1 }; // RTT 80 to 120 ms
const LOSS = 5; // percent each way
const JOIN_MS = 6000;
const PLAY_MS = 30_000;
const FRAME_MS = 1000 / 60;

/** The clock that both sides share, in milliseconds. */
const clock = () => Number(process.hrtime.bigint()) / 1e6;
const { serve, join } = await import(`./${process.argv[2]}.mjs`);

/** Returns how many bytes have gone over the path. */
function carried() {
  const line = readFileSync('/proc/self/net/dev', 'utf8').match(/cw0:(.*)/)[1];
  const words = line.trim().split(/\s+/).map(Number);
  return { up: words[0], down: words[8] };
}

async function near() {
  const { near: address, startFarSide } = await import('../../support/lossy_path.mjs');
  const side = await startFarSide();
  const { lose } = await side.join(PATH);
  const times = new Map();
  const places = await serve(address, (tick) => times.set(tick, clock()), PLAYERS);
  const players = side.start(fileURLToPath(import.meta.url), process.argv[2], ...places);
  const samples = text(players.stdout);
  await sleep(JOIN_MS / 2);
  await lose(LOSS);
  await sleep(JOIN_MS / 2);
  const before = carried();
  await sleep(PLAY_MS);
  const after = carried();
  const { shown, corrections } = JSON.parse(await samples);
  const ages = shown
    .map(({ time, tick }) => {
      const [from, to] = [times.get(Math.floor(tick)), times.get(Math.ceil(tick))];
      return from && to && time - from - (to - from) * (tick % 1);
    })
    .filter((age) => age !== undefined)
    .sort((a, b) => a - b);
  const at = (share) => Math.round(ages[Math.floor(ages.length * share)]);
  const rate = (way) => Math.round((after[way] - before[way]) / PLAYERS / (PLAY_MS / 1000));
  side.stop();
  console.log(
    JSON.stringify({
      age_p50_ms: at(0.5),
      age_p99_ms: at(0.99),
      corrections_per_minute: (corrections * 60_000) / PLAY_MS / PLAYERS,
      bytes_per_second: rate('down') + rate('up'),
      down_per_second: rate('down'),
      up_per_second: rate('up'),
    }),
  );
  process.exit(0);
}

async function far(places) {
  const players = [];
  const begun = clock();
  for (const [i, place] of places.entries())
    players.push(await join(place, walker(randomFrom(i + 1))));
  const shown = [];
  const corrections = () => players.reduce((sum, player) => sum + player.corrections(), 0);
  let before;
  const frames = setInterval(() => {
    const measures = clock() - begun > JOIN_MS;
    if (measures) before ??= corrections();
    for (const player of players)
      for (const tick of player.frame(performance.now()))
        if (measures) shown.push({ time: clock(), tick });
  }, FRAME_MS);
  await sleep(JOIN_MS + PLAY_MS - (clock() - begun));
  clearInterval(frames);
  process.stdout.write(JSON.stringify({ shown, corrections: corrections() - before }), () =>
    process.exit(0),
  );
}

const places = process.argv.slice(3);
await (places.length > 0 ? far(places) : near());
