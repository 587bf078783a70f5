// Keeps a page of the inspector up to date. Without it, a link loads the page again.
"use strict";

const live = document.getElementById("inspector-live");
const pause = document.getElementById("inspector-pause");
const refresh = document.getElementById("inspector-refresh");
const stale = document.getElementById("inspector-stale");

/** Replaces the part of the page that changes. Open details stay open, and the focus stays where it is. */
function replace(html) {
  const old = document.getElementById("inspector-fresh");
  const fresh = new DOMParser().parseFromString(html, "text/html").getElementById("inspector-fresh");
  if (fresh === null) return false;
  for (const details of old.querySelectorAll("details[id]")) {
    const same = fresh.querySelector(`#${CSS.escape(details.id)}`);
    if (same !== null) same.open = details.open;
  }
  const { id, parentElement } = document.activeElement ?? {};
  const focused = id || (old.contains(parentElement) ? parentElement.closest("[id]").id : "");
  old.replaceWith(fresh);
  if (focused !== "" && document.activeElement?.id !== focused) {
    const again = document.getElementById(focused);
    (again?.matches("a, button, summary, pre") ? again : again?.querySelector("a, summary"))?.focus();
  }
  return true;
}

let paused = false;
let waiting = null;

async function load() {
  waiting = null;
  if (paused) return;
  const response = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
  if (paused || response === null) return;
  if (!response.ok || !replace(await response.text())) end();
}

/** Shows that the server restarted or is gone. */
function end() {
  disconnect();
  pause.hidden = true;
  refresh.hidden = false;
  stale.hidden = false;
  document.documentElement.dataset.state = "stale";
}

const state = document.documentElement.dataset.state;
let stream = null;

function connect() {
  const opened = new EventSource(live.dataset.stream);
  opened.addEventListener("open", () => {
    pause.hidden = false;
    refresh.hidden = true;
  });
  opened.addEventListener("message", () => (waiting ??= setTimeout(load, 200)));
  opened.addEventListener("error", () => {
    if (opened.readyState === EventSource.CLOSED) end();
  });
  stream = opened;
}

function disconnect() {
  stream?.close();
  stream = null;
}

pause.addEventListener("click", () => {
  paused = !paused;
  pause.setAttribute("aria-pressed", String(paused));
  document.documentElement.dataset.state = paused ? "paused" : state;
  if (!paused) load();
});
// A browser opens at most six connections to a server: a hidden tab leaves its own to the sign-ins.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) disconnect();
  else if (stream === null && stale.hidden) {
    connect();
    load();
  }
});
if (!document.hidden) connect();
