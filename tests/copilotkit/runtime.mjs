import { randomUUID } from "node:crypto";

import { HttpAgent } from "@ag-ui/client";
import { CopilotRuntime, InMemoryAgentRunner } from "@copilotkit/runtime/v2";
import { createCopilotNodeListener } from "@copilotkit/runtime/v2/node";
import { catchError, EMPTY } from "rxjs";

const assistant = new HttpAgent({
  url: process.env.ASSISTANT_URL, // https://example.com/assistant/agui/
  headers: { Authorization: `Bearer ${process.env.ASSISTANT_TOKEN}` },
});

// The site keeps the threads: a page that is reloaded gets them from there.
class SiteRunner extends InMemoryAgentRunner {
  connect({ threadId, headers }) {
    const nothingNew = { messages: [], tools: [], context: [], state: {} };
    return Object.assign(assistant.clone(), { headers })
      .run({ threadId, runId: randomUUID(), forwardedProps: {}, ...nothingNew })
      .pipe(catchError(() => EMPTY)); // there is no such thread yet
  }
}

export const runtime = createCopilotNodeListener({
  runtime: new CopilotRuntime({
    agents: { default: assistant },
    runner: new SiteRunner(),
  }),
  basePath: "/runtime",
});
