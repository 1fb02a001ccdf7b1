// Games that Emscripten has compiled, in Firefox.
import { startFirefox } from '../support/firefox.mjs';
import { testGames } from './games.mjs';

testGames('Firefox', startFirefox);
