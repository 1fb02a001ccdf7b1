/** The number that FIONBIO has in Emscripten's headers. */
const FIONBIO = 0x5421;

/**
 * Emscripten's ioctl ends the program with this message for a request that it does not know. Minifiers keep the
 * message, so the function is recognised by it.
 */
const ENDS_PROGRAM = 'bad ioctl syscall';

type Call = (fd: number, request: number, argument: number) => unknown;

const isIoctl = (value: unknown): value is Call =>
  typeof value === 'function' && Function.prototype.toString.call(value).includes(ENDS_PROGRAM);

/** Lets ioctl accept FIONBIO: in a page no call blocks anyway, so every socket is non-blocking already. */
const withFionbio =
  (ioctl: Call): Call =>
  (fd, request, argument) =>
    request === FIONBIO ? 0 : ioctl(fd, request, argument);

/**
 * Replaces ioctl in the imports of a program of Emscripten. It changes the objects themselves, because the program may
 * look up more in them later.
 */
function mend(imports: Readonly<Record<string, Record<string, unknown>>> = {}): void {
  for (const module of Object.values(imports))
    for (const [name, value] of Object.entries(module))
      if (isIoctl(value)) module[name] = withFionbio(value);
}

/** Returns the same function, which first corrects the imports, its second argument. */
const mending = <Instantiate extends typeof WebAssembly.instantiateStreaming>(
  instantiate: Instantiate,
): Instantiate =>
  new Proxy(instantiate, {
    apply(target, self, args) {
      mend(args[1] as Parameters<typeof mend>[0]);
      return Reflect.apply(target, self, args) as unknown;
    },
  });

/** From now on, lets programs of Emscripten go on that would end at ioctl(FIONBIO). */
export function mendPrograms(): void {
  WebAssembly.instantiate = mending(WebAssembly.instantiate as never);
  WebAssembly.instantiateStreaming = mending(WebAssembly.instantiateStreaming);
}
