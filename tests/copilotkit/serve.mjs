// Serves the pages of FOLDER and CopilotKit's runtime: node serve.mjs FOLDER PORT
// AGUI_URL is the assistant, AGUI_TOKEN an access token.
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

import { HttpAgent } from "@ag-ui/client";
import { CopilotRuntime, InMemoryAgentRunner } from "@copilotkit/runtime/v2";
import { createCopilotNodeListener } from "@copilotkit/runtime/v2/node";
import { catchError, EMPTY } from "rxjs";

const [folder, port] = process.argv.slice(2);
const TYPES = { ".js": "text/javascript", ".css": "text/css" };

const assistant = new HttpAgent({
  url: process.env.AGUI_URL,
  headers: { Authorization: `Bearer ${process.env.AGUI_TOKEN}` },
});
// The site keeps the threads: a page that comes back is told of them by the site.
class SiteRunner extends InMemoryAgentRunner {
  connect({ threadId }) {
    const nothingNew = { messages: [], tools: [], context: [], state: {} };
    return assistant
      .clone()
      .run({ threadId, runId: randomUUID(), forwardedProps: {}, ...nothingNew })
      .pipe(catchError(() => EMPTY)); // there is no such thread yet
  }
}

const runtime = createCopilotNodeListener({
  runtime: new CopilotRuntime({
    agents: { default: assistant },
    runner: new SiteRunner(),
  }),
  basePath: "/runtime",
});

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
