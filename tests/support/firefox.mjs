// A headless Firefox with a profile of its own, for the length of a test.
import { require } from './packages.mjs';

const puppeteer = require('puppeteer-core');

export const startFirefox = () =>
  puppeteer.launch({
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
