// The package as its users get it: packed, unpacked into a project, typed, bundled.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { dist } from '../support/causeway.mjs';

const web = fileURLToPath(new URL('..', dist));
const modules = join(web, 'node_modules');
let project;

const run = (program, ...parameters) => {
  try {
    return execFileSync(program, parameters, { cwd: project, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    throw new Error(`${program} ${parameters.join(' ')}: ${error.stdout}${error.stderr}`);
  }
};
const write = (name, text) => writeFileSync(join(project, name), text);

before(() => {
  project = mkdtempSync(join(tmpdir(), 'causeway-package-'));
  run('npm', 'pack', '--silent', '--pack-destination', project, web);
  const [archive] = readdirSync(project);
  mkdirSync(join(project, 'node_modules'));
  run('tar', 'xzf', archive);
  cpSync(join(project, 'package'), join(project, 'node_modules/causeway'), { recursive: true });
  for (const name of ['ws', '@types', 'undici-types'])
    symlinkSync(join(modules, name), join(project, 'node_modules', name));
  write('package.json', JSON.stringify({ type: 'module' }));
});

after(() => rmSync(project, { recursive: true }));

test('the archive has what is exported and nothing of the tests', () => {
  const files = readdirSync(join(project, 'package'), { recursive: true }).sort();
  for (const file of [
    'README.md',
    'LICENSE',
    'dist/index.js',
    'dist/index.d.ts',
    'dist/causeway.wasm',
  ])
    assert.ok(files.includes(file), `${file} is missing`);
  assert.deepEqual(
    files.filter((file) => /test|node_modules|CMake|tsconfig/.test(file)),
    [],
  );
});

test('Node imports it by name', () => {
  write(
    'main.js',
    `import { Endpoint, loadCore } from 'causeway';
     import { createRequire } from 'node:module';
     const endpoint = new Endpoint(await loadCore());
     const { resolve } = createRequire(import.meta.url);
     console.log(endpoint.maxPacketSize, resolve('causeway/causeway.wasm').slice(-18), resolve('causeway/package.json').slice(-12));`,
  );
  assert.equal(run(process.execPath, 'main.js').trim(), '4096 dist/causeway.wasm package.json');
});

const compile = (source, ...options) => {
  write('main.ts', source);
  run(
    process.execPath,
    join(modules, 'typescript/bin/tsc'),
    '--noEmit',
    '--strict',
    '--target',
    'es2022',
    ...options,
    'main.ts',
  );
};

test('the types say what may be passed and what comes back', () => {
  const source = `
    import { CoreError, Endpoint, loadCore, WebSocketTransport, type Transport } from 'causeway';
    import { WebSocket } from 'ws';
    const core = await loadCore({ wasm: fetch('causeway.wasm') });
    const endpoint = new Endpoint(core, { maxPacketSize: 1000 });
    const sequence: number = endpoint.send(new Uint8Array(1), 0);
    // @ts-expect-error the time is missing
    endpoint.send(new Uint8Array(1));
    // @ts-expect-error no such setting
    new Endpoint(core, { packetSize: 1 });
    // @ts-expect-error internals are not for users
    endpoint.address;
    for (const event of endpoint.events()) {
      // @ts-expect-error only packets have a payload
      event.payload;
      if (event.type === 'packet') event.payload.length;
    }
    try {
      endpoint.update(sequence);
    } catch (error) {
      if (error instanceof CoreError && error.code === 'EVENTS_PENDING') endpoint.reset();
      // @ts-expect-error no such code
      if (error instanceof CoreError && error.code === 'EVENTS') endpoint.reset();
    }
    const transport: Transport = await WebSocketTransport.connect('wss://x/', { WebSocket });
    transport.ondatagram = (datagram) => void endpoint.receive(datagram, 0);
    for (let out = endpoint.transmit(0); out; out = endpoint.transmit(0)) transport.send(out);
    // @ts-expect-error the state is not the user's to set
    transport.state = 'closed';
    export {};`;
  compile(source, '--module', 'nodenext', '--lib', 'es2022,dom', '--types', 'node');
  compile(
    source,
    '--module',
    'esnext',
    '--moduleResolution',
    'bundler',
    '--lib',
    'es2022,dom',
    '--types',
    'node',
    '--exactOptionalPropertyTypes',
  );
});

test('vite takes the module along', async () => {
  write('index.html', '<script type="module" src="/main.js"></script>');
  write(
    'main.js',
    `import { Endpoint, loadCore } from 'causeway'; console.log(new Endpoint(await loadCore()));`,
  );
  run(
    process.execPath,
    join(modules, 'vite/bin/vite.js'),
    'build',
    '--target',
    'esnext',
    '--logLevel',
    'warn',
  );
  const assets = readdirSync(join(project, 'dist/assets'));
  const wasm = assets.find((name) => /^causeway-.*\.wasm$/.test(name));
  assert.ok(wasm, `no causeway.wasm among ${assets}`);
  const script = readFileSync(
    join(
      project,
      'dist/assets',
      assets.find((name) => name.endsWith('.js')),
    ),
    'utf8',
  );
  assert.ok(script.includes(wasm), 'the script does not name it');
});
