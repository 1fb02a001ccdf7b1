// Games that Emscripten has compiled, in Chromium.
import { startChromium } from '../support/chromium.mjs';
import { testGames } from './games.mjs';

testGames('Chromium', startChromium);
