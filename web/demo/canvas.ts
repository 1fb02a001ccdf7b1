/** Makes a canvas as sharp as the screen; returns its drawing context and its size in CSS pixels. */
export function prepare(canvas: HTMLCanvasElement) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const scale = devicePixelRatio;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const context = canvas.getContext('2d')!;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  const style = getComputedStyle(canvas);
  return { context, width, height, color: (name: string) => style.getPropertyValue(`--${name}`) };
}
