import { readFileSync } from "node:fs";
import { request } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { atEnd } from "../helpers/at-end.ts";
import { startIdp } from "../helpers/cli.ts";
import { freePort } from "../helpers/port.ts";
import { blocks, repository } from "../helpers/readme.ts";
import { timeLimit } from "../helpers/runs.ts";
import { newProject, shell } from "../helpers/shell.ts";

/** The recipe of docs/containers.md for a proxy that serves https, with a small proxy that does what its lines for nginx say. */

const [recipe = ""] = blocks("https behind a proxy", "nginx");
const tls = (name: string): string => join(repository, "test/helpers/tls", name);

/** The headers that the recipe sets, as nginx makes them. */
function headersFor(host: string, address: string, sent: string | undefined): Record<string, string> {
  const values: Readonly<Record<string, string>> = {
    $http_host: host,
    $proxy_add_x_forwarded_for: sent === undefined ? address : `${sent}, ${address}`,
  };
  return Object.fromEntries(
    [...recipe.matchAll(/proxy_set_header (\S+) (\S+);/g)].map(([, name = "", value = ""]) => [
      name,
      values[value] ?? expect.fail(`${value} is not known here`),
    ]),
  );
}

async function startProxy(backend: string): Promise<number> {
  const options = { cert: readFileSync(tls("cert.pem")), key: readFileSync(tls("key.pem")) };
  const proxy: Server = createServer(options, (req, res) => {
    const { host = "", "x-forwarded-for": sent, ...rest } = req.headers;
    const headers = { ...rest, ...headersFor(host, "198.51.100.7", sent as string | undefined) };
    const forwarded = request(
      `http://127.0.0.1:${backend}${req.url ?? ""}`,
      { method: req.method, headers },
      (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(res);
      },
    );
    forwarded.on("error", () => res.writeHead(502).end());
    req.pipe(forwarded);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "localhost", resolve));
  atEnd(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return (proxy.address() as AddressInfo).port;
}

test("a sign-in over https, by an issuer that only the flag names", { timeout: timeLimit }, async () => {
  const [command = ""] = blocks("https behind a proxy", "sh");
  const port = await freePort();
  const issuer = `https://localhost:${await startProxy(port)}`;
  const { cwd, env } = newProject();
  const words = command.replace("https://idp.example.test", issuer).split(" ");
  expect(words.slice(0, 2)).toEqual(["idp", "start"]);
  await startIdp([...words.slice(2), "--port", port], { cwd });
  const script = [
    `idp login --issuer ${issuer} --client idp-cli --user alice --approve --json > login.json`,
    `curl -s --cacert ${tls("cert.pem")} -D headers -o page ${issuer}/account`,
    "cat headers",
  ];
  const { code, stdout, stderr } = await shell(script.join("\n"), {
    cwd,
    env: { ...env, NODE_EXTRA_CA_CERTS: tls("cert.pem") },
  });
  expect(code, stdout + stderr).toBe(0);
  const login = JSON.parse(readFileSync(join(cwd, "login.json"), "utf8")) as { checks: { ok: boolean }[] };
  expect(new Set(login.checks.map(({ ok }) => ok))).toEqual(new Set([true]));
  expect(stdout).toMatch(/^set-cookie: .*; Secure/im);
});
