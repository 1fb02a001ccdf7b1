/** Events for which a listener was called. */
const heard = new WeakSet<Event>();

/** What the platform has in the place of each listener. */
const standIns = new WeakMap<object, EventListener>();

/**
 * What is to be added or removed in the place of a listener, so that {@link wasHeard} knows when it was
 * called. It is the same one each time: who is a listener (once, by signal, added twice, captures,
 * removed) remains the platform's business alone.
 */
export const standInOf = <Listener extends EventListenerOrEventListenerObject | null>(
  listener: Listener,
): Listener | EventListener => {
  // What is none of the two is for the platform to refuse or to ignore.
  if (typeof listener !== 'function' && !(typeof listener === 'object' && listener))
    return listener;
  let standIn = standIns.get(listener);
  if (!standIn) {
    standIn = function (this: unknown, event) {
      heard.add(event);
      return typeof listener === 'function'
        ? listener.call(this as EventTarget, event)
        : listener.handleEvent(event);
    };
    standIns.set(listener, standIn);
    // Node itself removes what it was given, by the public function, when a signal is aborted.
    standIns.set(standIn, standIn);
  }
  return standIn;
};

/** Whether anybody listened when the event was dispatched. */
export const wasHeard = (event: Event): boolean => heard.has(event);
