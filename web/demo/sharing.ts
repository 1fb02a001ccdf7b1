import { element } from './panel.js';

/** Only this machine finds these hosts. */
const OWN = /^(localhost|127\..*|\[::1\])$/;

/** Returns the address by which others join this game: that of the page, without how bad the network is. */
export function joinAddress(page: string): URL {
  const address = new URL(page);
  address.searchParams.delete('network');
  return address;
}

/** Shows the address of the game and its code for a camera when the button is pressed. */
export function offerSharing(): void {
  const dialog = element<HTMLDialogElement>('sharing');
  const address = joinAddress(location.href);
  element('send').addEventListener('click', async () => {
    element<HTMLInputElement>('address').value = address.href;
    element('own').hidden = !OWN.test(address.hostname);
    element('copied').textContent = '';
    dialog.showModal();
    const { renderSVG } = await import('uqr');
    element('code').innerHTML = renderSVG(address.href, { border: 2 });
  });
  element('copy').addEventListener('click', async () => {
    element<HTMLInputElement>('address').select();
    // A page without TLS has no clipboard.
    const copying = navigator.clipboard?.writeText(address.href) ?? Promise.reject(new Error());
    const text = await copying.then(
      () => 'Copied.',
      () => 'Copy what is marked.',
    );
    element('copied').textContent = text;
  });
}
