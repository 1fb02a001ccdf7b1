// A headless Chromium that hides all pages but the one in front, and throttles them as it does for users:
// five seconds after a page was hidden its timers run once a minute.
import { require } from './packages.mjs';

const puppeteer = require('puppeteer-core');

export const GRACE_SECONDS = 5;

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
      `--enable-features=IntensiveWakeUpThrottling:grace_period_seconds/${GRACE_SECONDS}`,
    ],
  });
