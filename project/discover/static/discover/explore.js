// Shows the query that the assistant has set, without loading the whole page again.

const done = '.aia-tool[data-tool="execute_query"][data-status="complete"]';
const count = () => document.querySelectorAll(`#aia-log ${done}`).length;
let seen = count();

const refresh = async () => {
  const form = document.querySelector("#discover form");
  const response = await fetch(form.action, { credentials: "same-origin" });
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = page.getElementById("discover");
  if (fresh) document.getElementById("discover").replaceWith(fresh);
  history.replaceState(null, "", form.action);
};

new MutationObserver(() => {
  const now = count();
  if (now > seen) refresh();
  seen = now;
}).observe(document.body, {
  subtree: true,
  childList: true,
  attributes: true,
  attributeFilter: ["data-status"]
});
