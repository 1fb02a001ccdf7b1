import { setText } from './dom.js';
import type { LabControl } from './lab.js';

/** The gauge of the round trip ends at this many seconds, or at three times the threshold. */
const LONGEST = 0.75;

const milliseconds = (seconds: number): string => `${Math.round(seconds * 1000)} ms`;
const kilobytes = (bytes: number): string => (bytes / 1000).toFixed(1);

/**
 * The panel of the flow control of a column: good and bad mode, or the window that the delay-based control has for
 * blocks.
 */
export class ControlPanel {
  constructor(readonly root: HTMLElement) {}

  show(control: LabControl, blocks: boolean): void {
    const { rttThresholdSeconds, windowBytes } = control;
    this.root.hidden = rttThresholdSeconds === 0 && !(blocks && windowBytes > 0);
    this.#showRtt(control);
    if (rttThresholdSeconds > 0) this.#showMode(control);
    else this.#showWindow(control);
  }

  /** The lamp, and the clock: how much of the penalty time has passed. */
  #showMode({ good, goodSeconds, penaltySeconds, packetsPerSecond }: LabControl): void {
    this.root.dataset['mode'] = good ? 'good' : 'bad';
    setText(this.#part('.mode'), `${good ? 'Good' : 'Bad'} mode: ${packetsPerSecond} packets/s`);
    setText(
      this.#part('.clock'),
      good
        ? `for ${goodSeconds.toFixed(1)} s; the penalty time is ${penaltySeconds} s`
        : `penalty: ${goodSeconds.toFixed(1)} of ${penaltySeconds} s with a good round trip`,
    );
    this.#gauge('.passed', good ? 1 : goodSeconds / penaltySeconds);
  }

  /** The window for blocks, and the part of it that is full. */
  #showWindow({ windowBytes, inFlightBytes }: LabControl): void {
    this.root.dataset['mode'] = 'delay';
    setText(this.#part('.mode'), 'Delay-based window for blocks');
    setText(
      this.#part('.clock'),
      `${kilobytes(inFlightBytes)} of ${kilobytes(windowBytes)} kB in flight`,
    );
    this.#gauge('.passed', inFlightBytes / windowBytes);
  }

  #showRtt({ rtt, rttThresholdSeconds: threshold }: LabControl): void {
    const end = Math.max(LONGEST, 3 * threshold);
    const limit = threshold > 0 ? `, bad above ${milliseconds(threshold)}` : '';
    setText(this.#part('.judged'), `round trip ${milliseconds(rtt)}${limit}`);
    this.#gauge('.rtt', rtt / end);
    this.#part('.rtt').style.setProperty('--mark', String(threshold / end));
    this.#part('.rtt').dataset['mark'] = threshold > 0 ? 'yes' : 'no';
  }

  #gauge(selector: string, share: number): void {
    this.#part(selector).style.setProperty('--share', String(Math.min(share, 1)));
  }

  #part(selector: string): HTMLElement {
    return this.root.querySelector<HTMLElement>(selector)!;
  }
}
