// Builds the pages as files that any web server can serve, from any folder.
import { fileURLToPath } from 'node:url';

const page = (name) => fileURLToPath(new URL(`${name}.html`, import.meta.url));

export default {
  base: './',
  build: {
    rollupOptions: {
      input: {
        index: page('index'),
        lockstep: page('lockstep'),
        cubes: page('cubes'),
        recording: page('recording'),
      },
    },
  },
};
