import { element } from './dom.js';
import { PRESETS, SLIDERS, parseSeed, type Network, type Settings } from './settings.js';

const sameNetwork = (one: Network, other: Network): boolean =>
  SLIDERS.every(({ key }) => one[key] === other[key]);

/** The settings that all columns share: presets, sliders, block and seed. */
export class NetworkPanel {
  onchange: (changes: Partial<Settings>) => void = () => {};
  readonly #presets = new Map<string, HTMLButtonElement>();
  readonly #sliders = new Map<
    keyof Network,
    { input: HTMLInputElement; value: HTMLOutputElement }
  >();
  readonly #blocks = element<HTMLInputElement>('blocks');
  readonly #seed = element<HTMLInputElement>('seed');

  constructor() {
    for (const [name, network] of Object.entries(PRESETS)) {
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'quiet';
      button.textContent = name;
      button.addEventListener('click', () => this.onchange(network));
      this.#presets.set(name, button);
    }
    element('presets').append(...this.#presets.values());
    element('sliders').append(...SLIDERS.map((slider) => this.#slider(slider)));
    this.#blocks.addEventListener('change', () => this.onchange({ blocks: this.#blocks.checked }));
    this.#seed.addEventListener('change', () => {
      const seed = parseSeed(this.#seed.value);
      this.#seed.setCustomValidity(
        seed === undefined ? 'A seed is a whole number from 0 to 4294967295.' : '',
      );
      if (this.#seed.reportValidity()) this.onchange({ seed: seed! });
    });
    element('reseed').addEventListener('click', () => this.reseed());
    // On a phone the columns come first.
    if (matchMedia('(max-width: 40rem)').matches)
      element<HTMLDetailsElement>('network').open = false;
  }

  /** Chooses another seed at random. */
  reseed(): void {
    this.onchange({ seed: crypto.getRandomValues(new Uint32Array(1))[0]! });
  }

  /** Shows settings; on a real network, those of the simulated one cannot be changed. */
  show(settings: Settings, real: boolean): void {
    for (const { key, values, text } of SLIDERS) {
      const { input, value } = this.#sliders.get(key)!;
      input.disabled = real && key !== 'messages';
      input.valueAsNumber = values.indexOf(settings[key]);
      value.textContent = text(settings[key]);
      input.setAttribute('aria-valuetext', value.textContent);
    }
    for (const [name, button] of this.#presets) {
      button.ariaPressed = String(!real && sameNetwork(settings, PRESETS[name]!));
      button.disabled = real;
    }
    this.#seed.disabled = real;
    element<HTMLButtonElement>('reseed').disabled = real;
    this.#blocks.checked = settings.blocks;
    this.#seed.value = String(settings.seed);
    if (real) return;
    element('summary').textContent =
      `${settings.rtt} ms, ${settings.loss} % loss` +
      (settings.bandwidth ? `, ${settings.bandwidth / 1000} Mbit/s` : '');
  }

  #slider({ key, label, values }: (typeof SLIDERS)[number]): HTMLElement {
    const root = document.createElement('label');
    const head = document.createElement('span');
    const value = document.createElement('output');
    const input = document.createElement('input');
    head.append(label, ' ', value);
    Object.assign(input, { type: 'range', id: key, min: 0, max: values.length - 1, step: 1 });
    input.addEventListener('input', () => this.onchange({ [key]: values[input.valueAsNumber]! }));
    root.append(head, input);
    this.#sliders.set(key, { input, value });
    return root;
  }
}
