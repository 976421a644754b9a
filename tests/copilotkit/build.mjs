// Bundles the pages for a browser: node build.mjs FOLDER
import { build } from "esbuild";

await build({
  entryPoints: ["chat.jsx", "direct.mjs"],
  outdir: process.argv[2],
  bundle: true,
  splitting: true,
  format: "esm",
  jsx: "automatic",
  define: { "process.env.NODE_ENV": '"production"' },
  loader: { ".ttf": "empty", ".woff": "empty", ".woff2": "empty" },
  logLevel: "warning",
});
