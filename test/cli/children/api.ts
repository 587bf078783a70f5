import { appendFileSync } from "node:fs";
import { CarefulApi, type ApiNeglect } from "../../helpers/careful-api.ts";
import { serveApp } from "../../helpers/serve-app.ts";

/**
 * An API for `idp check api`. Arguments: how it behaves, its port, and what it neglects. The file APP_PIDS gets its process id.
 *
 * `careful` answers requests. `dpop` does, with tokens that are bound to a key. `dies` ends at the fourth request. `silent` never listens.
 */

const [, , mode = "careful", port = "0", ...neglects] = process.argv;
const { OIDC_ISSUER = "", OIDC_AUDIENCE = "", APP_PIDS = "" } = process.env;
appendFileSync(APP_PIDS, `${process.pid}\n`);

if (mode === "silent") setInterval(() => undefined, 1000);
else {
  const config = {
    issuer: OIDC_ISSUER,
    audience: OIDC_AUDIENCE,
    url: `http://localhost:${port}`,
    dpop: mode === "dpop",
  };
  const api = await CarefulApi.create({ ...config, neglects: neglects as ApiNeglect[] });
  let requests = 0;
  await serveApp(Number(port), () => {
    requests += 1;
    if (mode === "dies" && requests > 3) process.exit(3);
    return api;
  });
}
