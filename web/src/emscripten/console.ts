const latest = new Map<string, string>();

/** Puts a line on the console, unless it was the last one about this topic. */
export function complain(topic: string, line: string): void {
  if (latest.get(topic) === line) return;
  latest.set(topic, line);
  console.error(`causeway: ${line}`);
}

/** Notes that all is well with the topic, so that the next line about it is put on the console again. */
export function forget(topic: string): void {
  latest.delete(topic);
}
