/** A listener was called for each of these events. */
const handled = new WeakSet<Event>();

/** The platform has such a function in the place of each listener. */
const standIns = new WeakMap<object, EventListener>();

/**
 * Returns the function to add or remove in the place of a listener, so that {@link wasHandled} knows when the listener
 * was called. It is the same function each time, so the platform alone decides who is a listener (once, by signal,
 * added twice, captures, removed).
 */
export const standInOf = <Listener extends EventListenerOrEventListenerObject | null>(
  listener: Listener,
): Listener | EventListener => {
  // The platform itself refuses or ignores a value that is neither of the two.
  if (typeof listener !== 'function' && !(typeof listener === 'object' && listener))
    return listener;
  let standIn = standIns.get(listener);
  if (!standIn) {
    standIn = function (this: unknown, event) {
      handled.add(event);
      return typeof listener === 'function'
        ? listener.call(this as EventTarget, event)
        : listener.handleEvent(event);
    };
    standIns.set(listener, standIn);
    // When a signal is aborted, Node removes the stand-in by the public function, so a stand-in stands for itself.
    standIns.set(standIn, standIn);
  }
  return standIn;
};

/** Returns whether anybody listened when the event was dispatched. */
export const wasHandled = (event: Event): boolean => handled.has(event);
