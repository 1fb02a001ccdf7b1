// The package in the output of bundlers, and with tools that know no `exports`.
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync, readdirSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { require } from '../support/packages.mjs';
import { modules, packedProject } from '../support/packed.mjs';

const esbuild = require('esbuild');

const { folder: project, run, write } = packedProject(test);

/** Returns the names of the files that vite makes of main.js. */
function viteAssets() {
  write('index.html', '<script type="module" src="/main.js"></script>');
  run(
    process.execPath,
    join(modules, 'vite/bin/vite.js'),
    'build',
    '--target',
    'esnext',
    '--logLevel',
    'warn',
  );
  return readdirSync(join(project, 'dist/assets'));
}

test('vite takes the modules along', async () => {
  write(
    'main.js',
    `import { Endpoint, loadCore } from 'causeway-net/core';
     import { ClockSync, loadGame } from 'causeway-net/game';
     console.log(new Endpoint(await loadCore()), new ClockSync(await loadGame()));`,
  );
  const assets = viteAssets();
  const script = readFileSync(
    join(
      project,
      'dist/assets',
      assets.find((name) => name.endsWith('.js')),
    ),
    'utf8',
  );
  for (const module of ['causeway', 'causeway-game']) {
    const wasm = assets.find((name) => new RegExp(`^${module}-[\\w-]{8}\\.wasm$`).test(name));
    assert.ok(wasm, `no ${module}.wasm among ${assets}`);
    assert.ok(script.includes(wasm), `the script does not name ${wasm}`);
  }
});

test('vite takes the Worker along', () => {
  write(
    'main.js',
    `import { connectInWorker } from 'causeway-net/worker';
     console.log(connectInWorker);`,
  );
  const assets = viteAssets();
  const thread = assets.find((name) => /^thread-[\w-]{8}\.js$/.test(name));
  assert.ok(thread, `no thread.js among ${assets}`);
  const script = readFileSync(join(project, 'dist/assets', thread), 'utf8');
  assert.ok(
    assets.some((name) => /^causeway-[\w-]{8}\.wasm$/.test(name) && script.includes(name)),
    `the Worker does not name the module among ${assets}`,
  );
});

/**
 * Returns the source of a backend that prints the size of a token; with `kit` it also prints what the other modules
 * make.
 */
const backend = (kit) => `
  import { ClockSync, loadGame } from 'causeway-net/game';
  import { generateConnectToken, generateKey, loadServer } from 'causeway-net/server';
  async function main() {
    const token = await generateConnectToken({
      protocolId: 1n, privateKey: generateKey(), clientId: 1n, servers: ['127.0.0.1:40000'],
    });
    console.log(token.length${kit ? ', new ClockSync(await loadGame()).constructor.name, typeof (await loadServer()).exports.cw_server_create' : ''});
  }
  void main();`;

/** Bundles a backend into one file, in a folder of its own. */
function bundle(folder, format, contents) {
  const outfile = join(project, folder, `backend.${format === 'esm' ? 'mjs' : 'cjs'}`);
  esbuild.buildSync({
    stdin: { contents, resolveDir: project },
    bundle: true,
    platform: 'node',
    format,
    outfile,
    logLevel: 'error',
  });
  return outfile;
}

/** Calls `what` while the package is not installed. */
function withoutPackage(what) {
  const installed = join(project, 'node_modules/causeway-net');
  renameSync(installed, `${installed}-away`);
  try {
    what();
  } finally {
    renameSync(`${installed}-away`, installed);
  }
}

for (const format of ['esm', 'cjs']) {
  test(`${format}: a bundled backend finds the modules of the installed package`, () => {
    const file = bundle(`${format}-installed`, format, backend(true));
    assert.equal(run(process.execPath, file), '2048 ClockSync function\n');
  });

  test(`${format}: without the package a bundled backend finds the module beside it`, () => {
    const file = bundle(`${format}-alone`, format, backend(false));
    const module = join(project, 'package/dist/causeway-server.wasm');
    copyFileSync(module, join(file, '../causeway-server.wasm'));
    withoutPackage(() => assert.equal(run(process.execPath, file), '2048\n'));
  });

  test(`${format}: a bundled backend that finds no module says what to do`, () => {
    const file = bundle(`${format}-lost`, format, backend(false));
    withoutPackage(() =>
      assert.throws(
        () => run(process.execPath, file),
        /ConnectError: causeway-server\.wasm is not beside this code: .*no such file.*Copy it there.*or pass .*`wasm`/,
      ),
    );
  });
}

test('resolvers that know no exports find the same files', () => {
  const root = join(project, 'package');
  const read = (folder) => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  for (const [name, target] of Object.entries(read('.').exports)) {
    if (typeof target === 'string') continue;
    const { main, types } = read(name);
    assert.equal(resolve(root, name, main), resolve(root, target.default));
    assert.equal(resolve(root, name, types), resolve(root, target.types));
    assert.ok(existsSync(resolve(root, name, main)));
  }
});

test('TypeScript that knows no exports finds the types', () => {
  write(
    'main.ts',
    `import { connect, type GameClient } from 'causeway-net';
     import { ClockSync } from 'causeway-net/game';
     import { connectInWorker } from 'causeway-net/worker';
     // @ts-expect-error the same is missing
     void connectInWorker('wss://x/');
     // @ts-expect-error the token and the schema are missing
     const client: Promise<GameClient> = connect('wss://x/');
     // @ts-expect-error the kit is missing
     new ClockSync();`,
  );
  const options = { noEmit: true, strict: true, target: 'es2022', module: 'esnext', types: [] };
  const compilerOptions = { ...options, moduleResolution: 'node10', lib: ['es2022', 'dom'] };
  write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['main.ts'] }));
  run(process.execPath, join(modules, 'typescript5/bin/tsc'), '-p', '.');
});
