// These options of listen() say how others reach the game. They come from the environment; see DEPLOY.md of causeway-net.
import { createServer } from 'node:http';

/** Real players come over this server, which start.ts opens. */
export const http = createServer();

const list = (text: string | undefined): string[] | undefined => text?.split(' ');

export const host = {
  server: http,
  trustedProxies: list(process.env.PROXIES), // such as 10.0.0.0/8
  origins: list(process.env.ORIGINS), // such as https://game.example, where pages come from
  port: Number(process.env.UDP_PORT ?? 0), // where a relay reaches it
};
