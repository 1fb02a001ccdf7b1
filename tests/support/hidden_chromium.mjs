// A headless Chromium that hides all pages but the one in front, and throttles them as it does for users: some time
// after a page was hidden its timers run once a minute. A test can set that time for a page that is still loading, such
// as one that was opened just now; for a page that has loaded it is a minute.
import { require } from './packages.mjs';

const puppeteer = require('puppeteer-core');

const LOADING_GRACE_SECONDS = 5;
export const LOADED_GRACE_SECONDS = 60;

export const startHidingChromium = () =>
  puppeteer.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    ignoreDefaultArgs: [
      '--disable-background-timer-throttling',
      '--disable-backgrounding-occluded-windows',
      '--disable-renderer-backgrounding',
    ],
    args: [
      '--no-sandbox',
      '--disable-gpu',
      `--enable-features=IntensiveWakeUpThrottling:grace_period_seconds/${LOADING_GRACE_SECONDS}`,
    ],
  });
