// On a phone the keyboard covers the lower part of the page: the sheet ends above it.

import { root } from "./root.js";

const fit = () => {
  const { height, offsetTop, scale } = visualViewport;
  const isCovered = innerWidth < 640 && scale < 1.01 && height < innerHeight - 1;
  const lengths = { "--aia-sheet": height, "--aia-above": offsetTop };
  for (const [name, value] of Object.entries(lengths))
    if (isCovered) root.style.setProperty(name, `${value}px`);
    else root.style.removeProperty(name);
};

visualViewport.addEventListener("resize", fit);
visualViewport.addEventListener("scroll", fit);
fit();
