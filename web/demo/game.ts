import type { ClientHost } from 'causeway-net';
import { prepare } from './chart.js';
import type { messages } from './schema.js';

type Player = { readonly player: number; readonly x: number; readonly y: number };

/** Where moves and the state of the world go. A lost one is replaced by the next. */
const STATE = 1;
/** Where the chat goes: everything arrives, in order. */
const CHAT = 0;
const LINES = 50;

const hue = (player: number): string => `hsl(${(player * 67) % 360} 70% 45%)`;

/** The chat on the reliable channel, and the arena on the unreliable one. */
export class Game {
  readonly #arena = document.getElementById('arena') as HTMLCanvasElement;
  readonly #lines = document.getElementById('chat-lines') as HTMLOListElement;
  #players: readonly Player[] = [];
  #place = { x: 0.5, y: 0.5 };

  constructor(client: ClientHost<typeof messages>) {
    client.addEventListener('message', ({ message }) => {
      if (message.type === 'said') this.#hear(message.value);
      if (message.type === 'world') {
        const { players, xs, ys } = message.value;
        this.#players = players.map((player, i) => ({ player, x: xs[i]!, y: ys[i]! }));
      }
    });
    const form = document.getElementById('chat') as HTMLFormElement;
    const input = document.getElementById('chat-text') as HTMLInputElement;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (client.state !== 'connected' || !input.value) return;
      client.send(CHAT, 'say', { text: input.value });
      input.value = '';
    });
    this.#arena.addEventListener('pointermove', ({ offsetX, offsetY }) => {
      const { clientWidth, clientHeight } = this.#arena;
      const share = (part: number, whole: number) => Math.min(1, Math.max(0, part / whole));
      this.#place = { x: share(offsetX, clientWidth), y: share(offsetY, clientHeight) };
    });
    const timer = setInterval(() => client.send(STATE, 'move', this.#place), 1000 / 30);
    void client.closed.then(() => clearInterval(timer));
  }

  #hear({ player, text }: { readonly player: number; readonly text: string }): void {
    const line = document.createElement('li');
    const name = document.createElement('b');
    name.textContent = `Player ${player}`;
    name.style.color = hue(player);
    line.append(name, ' ', text);
    this.#lines.append(line);
    while (this.#lines.children.length > LINES) this.#lines.firstElementChild!.remove();
    this.#lines.scrollTop = this.#lines.scrollHeight;
  }

  draw(): void {
    const { context, width, height } = prepare(this.#arena);
    for (const { player, x, y } of this.#players) {
      context.fillStyle = hue(player);
      context.beginPath();
      context.arc(x * width, y * height, 7, 0, 2 * Math.PI);
      context.fill();
    }
    this.#arena.dataset.players = String(this.#players.length);
  }
}
