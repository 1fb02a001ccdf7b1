const told = new Map<string, string>();

/** Puts a line on the console, unless it was the last one about this topic. */
export function complain(topic: string, line: string): void {
  if (told.get(topic) === line) return;
  told.set(topic, line);
  console.error(`causeway: ${line}`);
}

/** Notes that all is well with the topic, so that the next line about it is put on the console again. */
export function forget(topic: string): void {
  told.delete(topic);
}
