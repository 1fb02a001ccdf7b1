import { connect, type RelayTransportKind } from 'causeway-net';
import { loadGame } from 'causeway-net/game';
import { SimulatedNetwork, loadServer, type ServerCore } from 'causeway-net/server';
import { colorOf } from './colors.js';
import { Controls, type Wish } from './controls.js';
import { Halves } from './halves.js';
import { Panel, element } from './panel.js';
import { Play, seconds, type Claim, type Screen } from './play.js';
import type { Command, Player } from './rules.js';
import { Referee, fitting } from './referee.js';
import { offerSharing } from './sharing.js';
import { Sound } from './sound.js';
import { METRE, TICKS_PER_SECOND, messages } from './schema.js';
import { loadStep } from './step.js';
import { View, type Scene } from './view.js';

const state = (name: 'connecting' | 'open' | 'closed', text: string): void => {
  element('state').dataset['state'] = name;
  element('state').textContent = text;
};

/** The address of the page may say which transports to try: `?transport=websocket`. */
function wishes(): RelayTransportKind[] | undefined {
  const names = new URLSearchParams(location.search).getAll('transport') as RelayTransportKind[];
  return names.length > 0 ? names : undefined;
}

/** Asks the backend for a token. It is on the next port unless the address of the page names it. */
async function askToken(): Promise<ArrayBuffer> {
  const backend = new URL('/token', location.href);
  const port = new URLSearchParams(location.search).get('backend');
  backend.port = port ?? String(Number(location.port) + 1);
  const response = await fetch(backend, { method: 'POST', cache: 'no-store' });
  if (!response.ok) throw new Error(`the backend answered ${response.status}`);
  return response.arrayBuffer();
}

class Page implements Screen {
  readonly #canvas = element<HTMLCanvasElement>('arena');
  readonly #view = new View(this.#canvas);
  readonly controls = new Controls(this.#canvas);
  readonly #panel = new Panel(new URLSearchParams(location.search).get('network'));
  readonly #halves = new Halves();
  readonly #referee = new Referee();
  readonly #sound = new Sound();
  readonly #network: SimulatedNetwork;
  readonly #nameField = element<HTMLInputElement>('name');
  readonly switches = this.#panel.switches;
  /** The game, while it is connected. */
  play: Play | undefined;
  /** The game of the latest connection. */
  #latest: Play | undefined;

  constructor(
    readonly core: ServerCore,
    readonly step: (player: Player, command: Command) => Player,
  ) {
    this.#network = new SimulatedNetwork(core, this.#panel.path, 1);
    this.#nameField.addEventListener('change', () => this.#call());
    element('retry').addEventListener('click', () => void this.join(wishes()));
    element('cheat').addEventListener('click', () => this.#cheat());
    this.#panel.onpath = () => this.#network.change(this.#panel.path);
    this.#panel.ontransport = (kind) => {
      this.play?.client.disconnect();
      void this.join([kind]);
    };
    setInterval(() => this.play && this.#panel.add(this.play), 100);
  }

  get split(): boolean {
    return this.#halves.shown;
  }

  wish(): Wish {
    return this.controls.wish((place) => this.#view.ownNear(place));
  }

  /** Connects, and plays until the connection ends. */
  async join(transports: RelayTransportKind[] | undefined): Promise<void> {
    this.#latest?.stop();
    this.play = this.#latest = undefined;
    element('ended').hidden = true;
    state('connecting', 'connecting');
    try {
      const client = await connect(new URL('/', location.href), {
        ...(transports && { transports }),
        core: this.core,
        token: askToken,
        schema: messages,
        through: this.#network.through,
      });
      const play = await Play.begin(client, this);
      this.#latest = play;
      const isOurs = (): boolean => this.#latest === play;
      const tell = (): void => void (isOurs() && this.#tell(play));
      tell();
      client.addEventListener('transport', tell);
      client.addEventListener('state', tell);
      client.addEventListener('disconnect', ({ message }) => isOurs() && this.#end(message));
      this.#canvas.focus();
    } catch (error) {
      console.error(error);
      this.#end(error instanceof Error ? error.message : String(error));
    }
  }

  /** Tells the server the name that the player has chosen. */
  #call(): void {
    const name = fitting(this.#nameField.value);
    this.#nameField.value = name;
    this.play?.call(name);
  }

  /** Claims what cannot be, and tells what the server says to it. */
  #cheat(): void {
    const play = this.play;
    const claim = play?.cheat();
    if (!play || !claim) return;
    element('verdict').textContent = `You claim to be at ${spoken(claim)}.`;
    play.onanswer = (answer) => {
      element('verdict').textContent =
        `You claimed to be at ${spoken(claim)}. The server says ${spoken(answer)}: its word stands.`;
    };
    this.#canvas.focus();
  }

  /** Says how the player is connected. */
  #tell(play: Play): void {
    const { state: now, transport } = play.client;
    if (now === 'disconnected') return;
    this.play = play;
    element('ended').hidden = true;
    const name = transport === 'webrtc' ? 'WebRTC' : 'WebSocket';
    if (now === 'connected') state('open', `playing over ${name}`);
    else state('connecting', 'reconnecting');
    // After a time in which the page did not run, it may come back as a new client of the server.
    if (now === 'connected') this.#call();
    this.#panel.transport = transport;
  }

  /** Says why nobody plays. A page that Back restores plays again by itself. */
  #end(reason: string): void {
    this.play = undefined;
    state('closed', 'not connected');
    element('reason').textContent = `The game has ended: ${reason}`;
    element('ended').hidden = false;
    element('retry').focus();
  }

  /** Draws a frame of the game. */
  draw({ scene, streamedScene }: Play): void {
    const now = seconds();
    const scenes = streamedScene ? [streamedScene, scene] : [scene];
    this.#view.draw(scenes, this.controls.sticks(), now);
    this.#halves.add(now, scenes);
    this.#panel.draw();
    showScores(scene);
    this.#referee.show(scene.round);
    this.#sound.hear(scene.shots);
    this.#canvas.dataset['players'] = String(scene.players.length);
  }
}

/** Returns a place and speed in words. */
function spoken({ at, speed }: Claim): string {
  const metres = (units: number): string => (units / METRE).toFixed(1);
  const rate = (Math.hypot(speed.x, speed.y) * TICKS_PER_SECOND) / METRE;
  return `${metres(at.x)}, ${metres(at.y)} m at ${rate.toFixed(0)} m/s`;
}

/** Shows the scores of the best five and of the player. */
function showScores({ me, players, bodies }: Scene): void {
  const owned = (number: number): number =>
    bodies.reduce((sum, { owner }) => sum + Number(owner === number), 0);
  const ranks = players
    .map(({ number, name }) => ({ number, name, score: owned(number) }))
    .sort((a, b) => b.score - a.score)
    .filter(({ number }, rank) => rank < 5 || number === me);
  const list = element('scores');
  const floor = getComputedStyle(list).getPropertyValue('--floor');
  while (list.children.length > ranks.length) list.lastElementChild!.remove();
  while (list.children.length < ranks.length) list.append(document.createElement('li'));
  ranks.forEach(({ number, name, score }, i) => {
    const line = list.children[i] as HTMLElement;
    const text = `${name}: ${score}`;
    if (line.textContent !== text) line.textContent = text;
    line.className = number === me ? 'me' : '';
    line.style.setProperty('--mine', colorOf(number, floor));
  });
}

async function main(): Promise<void> {
  element('unsupported').remove();
  element<HTMLAnchorElement>('second').href = location.href;
  offerSharing();
  const [core, step] = await Promise.all([loadServer(), loadStep(), loadGame()]);
  const page = new Page(core, step);
  // Tests and curious people look inside through this.
  Object.assign(globalThis, { page });
  await page.join(wishes());
}

main().catch((error: unknown) => {
  state('closed', 'not connected');
  element('reason').textContent = `The game cannot begin: ${String(error)}`;
  element('ended').hidden = false;
  console.error(error);
});
