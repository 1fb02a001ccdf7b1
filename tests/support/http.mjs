// Requests over HTTP.
import http from 'node:http';
import https from 'node:https';
import { patiently } from './patience.mjs';

/**
 * Makes one request to a port of loopback, whose path is sent as it is, over a connection of its own. Resolves with
 * { status, headers, body, text }; any certificate will do if it is `secure`.
 */
export function ask(port, path, { method = 'GET', headers = {}, body, secure, ...options } = {}) {
  const length = body?.length > 0 && { 'content-length': Buffer.byteLength(body) };
  const answer = new Promise((resolve, reject) => {
    const request = (secure ? https : http).request({
      ...{ host: '127.0.0.1', port, path, method, agent: false, rejectUnauthorized: false },
      ...options,
      headers: { ...length, ...headers },
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const { statusCode: status, headers } = response;
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const body = Buffer.concat(chunks);
        resolve({ status, headers, body, text: body.toString() });
      });
    });
    request.end(body);
  });
  return patiently(answer, `the answer to ${method} ${path}`);
}
