/** The contrast with the arena's ground that everything on it has at least; WCAG asks for 3. */
const LEAST_CONTRAST = 3.3;
const SATURATION = 0.7;

const linear = (value: number): number =>
  value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;

/** Returns the relative luminance of a colour, as WCAG defines it, from its parts between 0 and 1. */
const luminance = ([red, green, blue]: readonly number[]): number =>
  0.2126 * linear(red!) + 0.7152 * linear(green!) + 0.0722 * linear(blue!);

/** Returns red, green and blue of a hue in degrees. */
function rgb(hue: number, lightness: number): number[] {
  const reach = SATURATION * Math.min(lightness, 1 - lightness);
  return [0, 8, 4].map((offset) => {
    const place = (offset + hue / 30) % 12;
    return lightness - reach * Math.max(-1, Math.min(place - 3, 9 - place, 1));
  });
}

const hexParts = (hex: string): number[] =>
  [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);

/** The colours of the players, by the colour of the ground. */
const known: Record<string, string[]> = {};

/** Returns a player's colour on ground of the colour `#rrggbb`, as dark or as light as the contrast needs. */
export const colorOf = (player: number, floor: string): string =>
  ((known[floor] ??= [])[player] ??= choose(player, floor));

function choose(player: number, floor: string): string {
  const hue = (player * 67 + 190) % 360;
  const under = luminance(hexParts(floor)) + 0.05;
  const step = under > 0.5 ? -0.01 : 0.01;
  let lightness = 0.5;
  const contrast = (): number => {
    const over = luminance(rgb(hue, lightness)) + 0.05;
    return Math.max(over, under) / Math.min(over, under);
  };
  while (contrast() < LEAST_CONTRAST) lightness += step;
  return `hsl(${hue} ${SATURATION * 100}% ${Math.round(lightness * 100)}%)`;
}
