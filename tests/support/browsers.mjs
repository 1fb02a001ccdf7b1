// Headless browsers with profiles of their own, for the length of a test.
import { own } from './fixture.mjs';
import { require } from './packages.mjs';
import { PATIENCE_MS } from './patience.mjs';

const { chromium } = require('playwright-core');
const puppeteer = require('puppeteer-core');
const patience = { timeout: PATIENCE_MS, protocolTimeout: PATIENCE_MS };

export async function startChromium(t, ...flags) {
  const browser = await chromium.launch({
    timeout: PATIENCE_MS,
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // Without these two options a machine that has no network but loopback finds no path.
      '--allow-loopback-in-peer-connection',
      '--disable-features=WebRtcHideLocalIpsWithMdns',
      ...flags,
    ],
  });
  own(t, () => browser.close());
  return browser;
}

export async function startFirefox(t) {
  const browser = await puppeteer.launch({
    ...patience,
    browser: 'firefox',
    executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr',
    headless: true,
    extraPrefsFirefox: {
      // Both settings are needed to use the loopback interface: the second lifts the limit to the default route's
      // address.
      'media.peerconnection.ice.loopback': true,
      'permissions.default.camera': 1,
    },
  });
  own(t, () => browser.close());
  return browser;
}

/** The seconds after which a page that is hidden runs its timers once a minute, if it was hidden while it loaded. */
const LOADING_GRACE_SECONDS = 5;
/** The same for a page that was hidden when it had loaded, which no option changes. */
export const LOADED_GRACE_SECONDS = 60;

/** Starts a Chromium that hides all pages but the one in front, and throttles them as it does for users. */
export async function startHidingChromium(t) {
  const browser = await puppeteer.launch({
    ...patience,
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
  own(t, () => browser.close());
  return browser;
}

/** The browsers that both kinds of links work in, by name. */
export const browsers = { Chromium: startChromium, Firefox: startFirefox };

/** Opens an empty page; the test may close it before it ends. */
export async function newPage(t, browser, options) {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(PATIENCE_MS);
  own(t, () => page.isClosed() || page.close());
  return page;
}
