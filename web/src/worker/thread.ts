// The program that runs in the Worker of `connectInWorker`.
import type { Port } from './line.js';
import { serve } from './serve.js';

serve(globalThis as unknown as Port);
