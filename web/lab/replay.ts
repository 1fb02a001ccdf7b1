import type { EndpointStats } from '../src/endpoint.js';
import { congestionLimits, endpointStatsStruct } from '../src/generated.js';
import { recordingEventStruct, recordingEventTypes, type RecordingEvent } from './generated.js';
import { named, type Lab } from './lab.js';

/** Seconds between two points of the charts. */
const POINT_SECONDS = 0.1;
/** Seconds without a datagram that are told, as `causeway-record` does. */
const STALL_SECONDS = 0.25;
/** The most events that are told, which are more than a minute has. */
const MOST_TOLD = 5000;

/** This is what a recording tells. Times are seconds since its beginning. */
export interface Replayed {
  readonly told: { readonly time: number; text: string }[];
  readonly points: { readonly time: number; readonly stats: EndpointStats }[];
  /** The statistics at the end. */
  readonly stats: EndpointStats;
  readonly seconds: number;
}

type Event = Omit<RecordingEvent, 'type' | 'text'> & {
  readonly type: (typeof recordingEventTypes)[keyof typeof recordingEventTypes];
  readonly text: string;
};

/** Lets the core do again what a recording has, and yields each event. */
function* eventsOf(lab: Lab, recording: number): Generator<Event> {
  const { exports, memory } = lab;
  let more = 1;
  const take = (out: number): void => {
    more = exports.cw_recording_next(recording, out);
  };
  for (;;) {
    const event = lab.read(recordingEventStruct, take);
    if (!more) return;
    const text = event.text ? memory.text(event.text) : '';
    yield { ...event, type: named(recordingEventTypes, event.type), text } as unknown as Event;
  }
}

/** Says in words what those events were that are told; the charts show the others. */
const textOf = ({ type, sequence, limited, window, inFlight, text }: Event): string | undefined => {
  switch (type) {
    case 'lost':
      return `Lost: ${sequence}`;
    case 'congestion': {
      const limit = named(congestionLimits, limited)!;
      const by = limit === 'NONE' ? 'nothing' : `the ${limit.toLowerCase()}`;
      return `Held back by ${by}: ${inFlight} of ${window} bytes in flight`;
    }
    case 'note':
      return text;
    case 'reset':
      return 'Another conversation begins';
    case 'damaged':
      return 'The rest of the file is damaged';
    default:
      return undefined;
  }
};

function replayed(lab: Lab, recording: number): Replayed {
  const { exports } = lab;
  const told: Replayed['told'] = [];
  const points: Replayed['points'] = [];
  const stats = (): EndpointStats =>
    lab.read(endpointStatsStruct, (out) => exports.cw_recording_get_stats(recording, out));
  let start: number | undefined;
  let [time, heard, due, limit] = [0, 0, 0, 0];
  const tell = (text: string | undefined): void => {
    if (text && told.length < MOST_TOLD) told.push({ time, text });
  };
  for (const event of eventsOf(lab, recording)) {
    time = event.now - (start ??= event.now);
    if (event.type === 'received') {
      if (time - heard > STALL_SECONDS)
        tell(`Nothing had been received for ${(time - heard).toFixed(2)} s`);
      heard = time;
    }
    const last = told.at(-1);
    // Several packets are found lost at once, and the recorder repeats the same limit each second.
    if (event.type === 'lost' && last?.time === time && last.text.startsWith('Lost'))
      last.text += `, ${event.sequence}`;
    else if (event.type !== 'congestion' || event.limited !== limit) tell(textOf(event));
    if (event.type === 'congestion') limit = event.limited;
    if (time < due) continue;
    points.push({ time, stats: stats() });
    due = time + POINT_SECONDS;
  }
  return { told, points, stats: stats(), seconds: time };
}

/**
 * Lets the core do again what a recording has.
 * @throws MisuseError when the file is no recording
 */
export const replay = (lab: Lab, file: Uint8Array): Replayed =>
  lab.withMemory(file.length, (data) => {
    const { exports, memory } = lab;
    memory.bytes.set(file, data);
    const recording = lab.made((out) => exports.cw_recording_create(data, file.length, 0, out));
    try {
      return replayed(lab, recording);
    } finally {
      exports.cw_recording_destroy(recording);
    }
  });
