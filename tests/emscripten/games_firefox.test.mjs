// Games that Emscripten has compiled, in Firefox.
import { testGames } from './games.mjs';
import { startFirefox } from '../support/browsers.mjs';

testGames('Firefox', startFirefox);
