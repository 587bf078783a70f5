// At the end of the job: shows what a failed job asked, and stops the server in any case.
import { setTimeout as delay } from "node:timers/promises";
import { fail, input, run } from "./command.js";

/** How long the server may take to stop, in milliseconds. */
const patience = 10_000;

/** What main.js kept. */
const state = (name) => process.env[`STATE_${name}`] ?? "";

function showLedger() {
  const requests = run(JSON.parse(state("command")), ["requests", "--url", state("url")], {
    IDP_ADMIN_TOKEN: state("admin_token"),
  });
  console.log("::group::Requests to idp");
  console.log(requests.trimEnd());
  console.log("::endgroup::");
}

/** Sends a signal to the server and the processes that started it, which are a group. */
function signal(pid, name) {
  try {
    process.kill(process.platform === "win32" ? pid : -pid, name);
  } catch {
    // They have ended.
  }
}

async function stop(pid, url) {
  signal(pid, "SIGTERM");
  try {
    for (const until = Date.now() + patience; url !== "" && Date.now() < until; await delay(50)) {
      await fetch(`${url}/_idp/health`);
    }
  } catch {
    return; // Nothing answers.
  }
  signal(pid, "SIGKILL");
}

try {
  if (input("job-status") === "failure" && state("url") !== "") showLedger();
} catch (error) {
  fail(error);
} finally {
  if (state("pid") !== "") await stop(Number(state("pid")), state("url"));
}
