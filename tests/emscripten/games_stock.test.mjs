// The games in Chromium without any of Causeway in the page, for the figures to compare with.
import { testStock } from './games.mjs';
import { startChromium } from '../support/browsers.mjs';

testStock(startChromium);
