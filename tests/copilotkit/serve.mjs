// Serves the pages of FOLDER and CopilotKit's runtime: node serve.mjs FOLDER PORT
// The runtime takes ASSISTANT_URL and ASSISTANT_TOKEN.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

import { runtime } from "./runtime.mjs";

const [folder, port] = process.argv.slice(2);
const TYPES = { ".js": "text/javascript", ".css": "text/css" };

const page = (name) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${name}</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/${name}.css"></head>
<body><div id="root"></div><script type="module" src="/${name}.js"></script></body></html>`;

async function answer(request, response) {
  const path = new URL(request.url, "http://page").pathname;
  if (path.startsWith("/runtime")) return runtime(request, response);
  if (!extname(path)) {
    return response.setHeader("Content-Type", "text/html").end(page(path.slice(1)));
  }
  try {
    const file = await readFile(join(folder, normalize(path)));
    response.setHeader("Content-Type", TYPES[extname(path)] ?? "text/plain").end(file);
  } catch {
    response.writeHead(404).end();
  }
}

createServer(answer).listen(Number(port), "127.0.0.1");
