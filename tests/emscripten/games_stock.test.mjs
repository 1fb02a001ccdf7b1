// The games in Chromium without any of Causeway in the page, for the figures to compare with.
import { startChromium } from '../support/chromium.mjs';
import { testStock } from './games.mjs';

testStock(startChromium);
