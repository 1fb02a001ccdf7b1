// A Worker of the package as a thread of Node, with both its ends. As a module of such a thread this file serves the
// page.
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { dist, require } from './causeway.mjs';

/** Opens a thread that looks like a Worker of a page. */
export function openThread() {
  const { port1, port2 } = new MessageChannel();
  const thread = new Worker(new URL(import.meta.url), {
    workerData: { port: port2 },
    transferList: [port2],
  });
  const worker = {
    onmessage: null,
    onerror: null,
    postMessage: (message, transfer) => port1.postMessage(message, transfer),
    terminate: () => {
      port1.close();
      return thread.terminate();
    },
    thread,
  };
  port1.on('message', (data) => worker.onmessage?.({ data }));
  thread.on('error', ({ message }) => worker.onerror?.({ message }));
  return worker;
}

if (!isMainThread && workerData?.port) {
  const { serve } = await import(new URL('worker/serve.js', dist));
  globalThis.WebSocket ??= require('ws').WebSocket;
  const { port } = workerData;
  const self = {
    onmessage: null,
    postMessage: (message, transfer) => port.postMessage(message, transfer),
  };
  serve(self);
  port.on('message', (data) => self.onmessage({ data }));
}
