// The page: it sends where the pointer is, and draws where everybody is.
import { connect } from 'causeway-net';
import { SIZE, messages } from './messages.js';

const canvas = document.querySelector('canvas')!;
const context = canvas.getContext('2d')!;
const state = document.querySelector('#state')!;

/** Where the server is: where the page comes from, unless it was built for another place. */
const home: string = import.meta.env.VITE_SERVER ?? import.meta.env.BASE_URL;

async function token(): Promise<ArrayBuffer> {
  const response = await fetch(`${home}token`, { method: 'POST', cache: 'no-store' });
  if (!response.ok) throw new Error(await response.text());
  return response.arrayBuffer();
}

function draw(players: readonly { slot: number; x: number; y: number }[]): void {
  context.clearRect(0, 0, SIZE, SIZE);
  for (const { slot, x, y } of players) {
    context.fillStyle = `hsl(${slot * 137.5} 80% 60%)`;
    context.beginPath();
    context.arc(x, y, 20, 0, 2 * Math.PI);
    context.fill();
  }
}

async function play(): Promise<void> {
  const client = await connect(home, { token, schema: messages });
  const show = (): void => {
    state.textContent = client.state;
  };
  client.addEventListener('state', show);
  show();

  const move = ({ offsetX, offsetY }: PointerEvent): void => {
    const scale = SIZE / canvas.clientWidth;
    const inside = (at: number): number => Math.max(0, Math.min(SIZE, Math.round(at * scale)));
    if (client.writable) client.send('move', { x: inside(offsetX), y: inside(offsetY) });
  };
  canvas.addEventListener('pointermove', move);
  canvas.addEventListener('pointerdown', move); // a tap does not move the pointer
  for await (const { type, value } of client) if (type === 'world') draw(value.players);
  state.textContent = `ended: ${(await client.closed).reason}`;
}

play().catch((error: Error) => {
  state.textContent = error.message;
});
