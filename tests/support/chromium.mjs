// A headless Chromium with a profile of its own, for the length of a test.
import { require } from './packages.mjs';

const { chromium } = require('playwright-core');

export const startChromium = (...flags) =>
  chromium.launch({
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
