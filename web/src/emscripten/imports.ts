/** Of Emscripten's headers. */
const FIONBIO = 0x5421;

/** What Emscripten's ioctl says when it ends the program for a request that it does not know, minified or not. */
const ENDS_PROGRAM = 'bad ioctl syscall';

type Call = (fd: number, request: number, argument: number) => unknown;

const isIoctl = (value: unknown): value is Call =>
  typeof value === 'function' && Function.prototype.toString.call(value).includes(ENDS_PROGRAM);

/** In a page nothing waits anyway, so that a program may make what it likes non-blocking. */
const withFionbio =
  (ioctl: Call): Call =>
  (fd, request, argument) =>
    request === FIONBIO ? 0 : ioctl(fd, request, argument);

/** Changes what a program of Emscripten imports, which may look up more in the same objects later. */
function mend(imports: Readonly<Record<string, Record<string, unknown>>> = {}): void {
  for (const module of Object.values(imports))
    for (const [name, value] of Object.entries(module))
      if (isIoctl(value)) module[name] = withFionbio(value);
}

/** The same function, which mends the imports that are its second argument first. */
const mending = <Instantiate extends typeof WebAssembly.instantiateStreaming>(
  instantiate: Instantiate,
): Instantiate =>
  new Proxy(instantiate, {
    apply(target, self, args) {
      mend(args[1] as Parameters<typeof mend>[0]);
      return Reflect.apply(target, self, args) as unknown;
    },
  });

/** From now on, programs of Emscripten that would end at ioctl(FIONBIO) go on. */
export function mendPrograms(): void {
  WebAssembly.instantiate = mending(WebAssembly.instantiate as never);
  WebAssembly.instantiateStreaming = mending(WebAssembly.instantiateStreaming);
}
