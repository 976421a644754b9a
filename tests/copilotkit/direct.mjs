// @ag-ui/client 1.0 alone, from another origin. #url=...&token=... says where.
import { HttpAgent } from "agui-client-1";

const given = new URLSearchParams(location.hash.slice(1));
const agent = new HttpAgent({
  url: given.get("url"),
  headers: { Authorization: `Bearer ${given.get("token")}` },
});

const messages = document.createElement("div");
const asked = document.createElement("div");
const form = document.createElement("form");
const words = document.createElement("textarea");
const send = document.createElement("button");
send.textContent = "Send";
form.append(words, send);
document.getElementById("root").append(messages, asked, form);

function line(role, text) {
  const found = document.createElement("p");
  found.dataset.role = role;
  found.textContent = text;
  return found;
}

function show() {
  const lines = agent.messages.flatMap(({ role, content, toolCalls = [] }) => [
    ...(content ? [line(role, content)] : []),
    ...toolCalls.map((call) => line("call", call.function.name)),
  ]);
  messages.replaceChildren(...lines);
}

function ask(interrupt) {
  const button = (title, approved) => {
    const found = document.createElement("button");
    found.textContent = title;
    found.onclick = () => {
      const interruptId = interrupt.id;
      run({ resume: [{ interruptId, status: "resolved", payload: { approved } }] });
    };
    return found;
  };
  const question = line("interrupt", interrupt.message);
  asked.append(question, button("Approve", true), button("Deny", false));
}

async function run(parameters) {
  asked.replaceChildren();
  let open = [];
  try {
    await agent.runAgent(parameters, {
      onMessagesChanged: show,
      onRunErrorEvent: ({ event }) => asked.append(line("alert", event.message)),
      onRunFinishedEvent: ({ outcome, interrupts }) => {
        if (outcome === "interrupt") open = interrupts;
      },
    });
  } catch (error) {
    asked.append(line("alert", error.message));
  }
  open.forEach(ask);
}

form.onsubmit = (event) => {
  event.preventDefault();
  agent.addMessage({ id: crypto.randomUUID(), role: "user", content: words.value });
  show();
  run();
};
