// Compares a fast game on Causeway with the same one on Colyseus: 8 players, RTT 80 to 120 ms, 5 % loss. Each plays so
// many times, in turn, and the medians count. Exits with 77 where Colyseus cannot be installed.
//   colyseus_game.mjs [TIMES]    default 3
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGES = {
  '@colyseus/core': '0.18.17',
  '@colyseus/schema': '5.0.34',
  '@colyseus/sdk': '0.18.4',
  '@colyseus/ws-transport': '0.18.4',
};
const build = process.env.CAUSEWAY_BUILD;
const folder = join(build, 'colyseus');

if (!existsSync(join(folder, 'node_modules'))) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies: PACKAGES }));
  try {
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], {
      cwd: folder,
      stdio: 'pipe',
    });
  } catch ({ stderr }) {
    rmSync(folder, { recursive: true });
    console.error(`skipped: Colyseus cannot be installed: ${stderr}`);
    process.exit(77);
  }
}

const play = (library) =>
  JSON.parse(
    execFileSync(
      'unshare',
      [
        '-Urn',
        process.execPath,
        fileURLToPath(new URL('games/play.mjs', import.meta.url)),
        library,
      ],
      {
        env: {
          ...process.env,
          CAUSEWAY_LOSSY_LINK: join(build, 'tests/relay/test_lossy_link'),
          CAUSEWAY_RELAY: join(build, 'relay/causeway-relay'),
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    ),
  );

const times = Number(process.argv[2] ?? 3);
const runs = Array.from({ length: times }, () => ({
  causeway: play('causeway'),
  colyseus: play('colyseus'),
}));
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const figure = (library, name) => median(runs.map((run) => run[library][name]));
for (const name of Object.keys(runs[0].causeway)) {
  const [ours, theirs] = [figure('causeway', name), figure('colyseus', name)];
  console.error(`${name}: Causeway ${ours}, Colyseus ${theirs}`);
}
const ratios = {
  age_p99_ratio: 'age_p99_ms',
  corrections_ratio: 'corrections_per_minute',
  bytes_ratio: 'bytes_per_second',
};
for (const [ratio, name] of Object.entries(ratios))
  console.log(`${ratio} ${(figure('causeway', name) / figure('colyseus', name)).toFixed(2)} ratio`);
