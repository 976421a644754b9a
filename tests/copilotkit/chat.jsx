// CopilotKit's chat with a tool of this page, and a person who approves.
import { useState } from "react";
import { createRoot } from "react-dom/client";
import { z } from "zod";
import {
  CopilotChat,
  CopilotKitProvider,
  useDefaultRenderTool,
  useFrontendTool,
} from "@copilotkit/react-core/v2";
import "@copilotkit/react-core/v2/styles.css";

import { Approvals } from "./approvals.jsx";

const thread = new URLSearchParams(location.search).get("thread");

function Assistant({ fail }) {
  const [colour, setColour] = useState("white");

  useFrontendTool({
    name: "paint",
    description: "Paint the page.",
    parameters: z.object({ colour: z.string() }),
    handler: async ({ colour }) => {
      setColour(colour);
      return `The page is ${colour}.`;
    },
  });
  useDefaultRenderTool({
    render: ({ name, status, parameters, result }) => (
      <p data-tool={name} data-status={status}>
        {name} ({status}): {JSON.stringify(parameters)} {result}
      </p>
    ),
  });
  return (
    <div data-colour={colour} style={{ height: "95vh", border: `8px solid ${colour}` }}>
      <p role="alert">{fail}</p>
      <Approvals />
      <CopilotChat threadId={thread ?? undefined} />
    </div>
  );
}

function Page() {
  const [fail, setFail] = useState("");
  return (
    <CopilotKitProvider
      runtimeUrl="/runtime"
      enableInspector={false}
      onError={({ code, error }) => setFail(`${code}: ${error.message}`)}
    >
      <Assistant fail={fail} />
    </CopilotKitProvider>
  );
}

createRoot(document.getElementById("root")).render(<Page />);
