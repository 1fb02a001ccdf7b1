// The thread in which a game server runs during development. Timers and sockets that the server leaves behind end with
// it.
import { parentPort, workerData } from 'node:worker_threads';

// Errors name the developer's own lines.
process.setSourceMapsEnabled(true);

const exported = Object.values(await import(workerData.file));
const server = exported.find((value) => typeof value?.generateConnectToken === 'function');
if (!server)
  throw new Error(
    'it exports no game server: export const server = await listen({ ... }) of causeway-net/server',
  );

server.addEventListener('refusedtokens', ({ code, count, message }) =>
  parentPort.postMessage({ refused: { code, count, message } }),
);
parentPort.on('message', async ({ close, id, clientId }) => {
  if (close) {
    await server.close();
    process.exit();
  }
  const token = await server.generateConnectToken({ clientId });
  parentPort.postMessage({ id, token });
});
parentPort.postMessage({ address: server.address });
