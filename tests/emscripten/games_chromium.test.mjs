// Games that Emscripten has compiled, in Chromium.
import { testGames } from './games.mjs';
import { startChromium } from '../support/browsers.mjs';

testGames('Chromium', startChromium);
