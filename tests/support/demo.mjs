// The demo as web/demo/run starts it: the native game server, the relay, the page.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startRelay } from './relay.mjs';

const build = process.env.CAUSEWAY_BUILD;

export async function startDemo(...options) {
  const server = spawn(join(build, 'web/demo_server'), [], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface(server.stdout), 'line');
  const relay = await startRelay(/\d+$/.exec(line)[0], '--root', join(build, 'demo'), ...options);
  return {
    relay,
    url: relay.url,
    stopServer: () => server.kill(),
    stop: async () => {
      server.kill();
      return relay.stop();
    },
  };
}
