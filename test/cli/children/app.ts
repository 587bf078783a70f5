import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { CarefulApp, type Neglect } from "../../helpers/careful-app.ts";
import { serveApp } from "../../helpers/serve-app.ts";

/**
 * An app for `idp check client`. Arguments: how it behaves, its port, and what it neglects. The file APP_PIDS gets its process ids.
 *
 * `careful` signs users in. `stubborn` does too, ignores SIGTERM and starts a child. `hangs` accepts requests and never responds.
 * `dies` signs one user in and ends. `aimless` has no sign-in. `silent` never listens. `ends` ends at once. `routed` answers 404 at first, as a
 * proxy that does not know its app yet. `parent` starts a child in a session of its own, and takes a while to end it.
 */

const [, , mode = "careful", port = "0", ...neglects] = process.argv;
const { OIDC_ISSUER = "", OIDC_CLIENT_ID = "", OIDC_CLIENT_SECRET = "", OIDC_REDIRECT_URI = "" } = process.env;

async function signingIn(): Promise<void> {
  const app = await CarefulApp.create({
    ...{ issuer: OIDC_ISSUER, clientId: OIDC_CLIENT_ID, clientSecret: OIDC_CLIENT_SECRET },
    redirectUri: OIDC_REDIRECT_URI,
    neglects: neglects as Neglect[],
  });
  let callbacks = 0;
  await serveApp(Number(port), () => app, {
    onRequest: (path) => {
      if (mode === "dies" && path.startsWith("/callback") && (callbacks += 1) > 1) process.exit(3);
    },
  });
}

const { APP_PIDS } = process.env;
const note = (pid: number | undefined): void => {
  if (APP_PIDS !== undefined) appendFileSync(APP_PIDS, `${pid}\n`);
};
note(process.pid);
switch (mode) {
  case "ends":
    console.error("no configuration");
    process.exit(2);
    break;
  case "silent":
    setInterval(() => undefined, 1000);
    break;
  case "hangs":
    createServer(() => undefined).listen(Number(port), "localhost");
    break;
  case "aimless":
    createServer((_req, res) => res.writeHead(401).end("no")).listen(Number(port), "localhost");
    break;
  case "routed": {
    const proxy = createServer((_req, res) => res.writeHead(404).end("no route")).listen(Number(port), "localhost");
    setTimeout(() => {
      proxy.close(() => void signingIn());
      proxy.closeAllConnections();
    }, 500);
    break;
  }
  case "parent": {
    const own = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "ignore" });
    note(own.pid);
    process.on("SIGTERM", () => {
      setTimeout(() => {
        own.on("exit", () => process.exit());
        own.kill();
      }, 1500);
    });
    await signingIn();
    break;
  }
  case "stubborn": {
    process.on("SIGTERM", () => undefined);
    const child = spawn(process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"]);
    note(child.pid);
    await signingIn();
    break;
  }
  default:
    await signingIn();
}
