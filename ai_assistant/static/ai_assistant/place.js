// Puts a floating window where it was left. A page with one waits for this, so that it
// is never painted elsewhere: a style sheet of the CSSOM, since a strict
// Content-Security-Policy allows no inline style and the panel is not there yet.
{
  const STEP = 20;
  const MIN_HEIGHT = 320;
  const cookie = /aia_ui=[^;]*\bp=(\d{1,3})\.(\d{1,3})\.(\d{1,3})/.exec(
    document.cookie
  );
  if (cookie) {
    const [height, x, y] = cookie.slice(1).map((steps) => Number(steps) * STEP);
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`#aia {
      --aia-h: ${Math.max(MIN_HEIGHT, height)}px;
      --aia-x: ${x}px;
      --aia-y: ${y}px;
    }`);
    document.adoptedStyleSheets.push(sheet);
  }
}
