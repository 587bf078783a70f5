import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { load } from "js-yaml";
import { expect, test } from "vitest";
import { newFolder, startIdp } from "../helpers/cli.ts";
import { dockerStages, imageEnvironment, texts } from "../helpers/dockerfile.ts";
import { freePort } from "../helpers/port.ts";
import { newDatabase, postgresPassword } from "../helpers/postgres.ts";

/**
 * `examples/compose.yaml`: the server's command as it stands there, but for the port; the app asks under the container's name.
 * `examples/compose-postgres.yaml`: the same of its instances.
 */

interface Compose {
  readonly services: {
    readonly idp: { readonly build: unknown; readonly command: string; readonly volumes: readonly string[] };
    readonly app: { readonly environment: Record<string, string> };
  };
  readonly volumes: Record<string, unknown>;
}

const read = (name: string): unknown => load(readFileSync(new URL(`../../examples/${name}`, import.meta.url), "utf8"));
const compose = read("compose.yaml") as Compose;

const get = (port: number, path: string, host: string): Promise<Record<string, unknown>> =>
  new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", port, path, headers: { host } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => {
        resolve(JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>);
      });
    })
      .on("error", reject)
      .end();
  });

test("it is the image of the Dockerfile, and its data are in a volume", () => {
  const { services, volumes } = compose;
  expect(services.idp.build).toBe("..");
  const [name = "", path = ""] = services.idp.volumes[0]?.split(":") ?? [];
  expect(Object.keys(volumes)).toEqual([name]);
  expect(texts(dockerStages().at(-1) ?? [], "VOLUME")).toEqual([path]);
});

test("the app's container finds its endpoints under its own name for the server, and the issuer is the browser's", async () => {
  const { idp, app } = compose.services;
  const [command, ...flags] = idp.command.split(" ");
  expect(command).toBe("start");
  const cwd = newFolder();
  const running = await startIdp([...flags, "--json"], { cwd, env: imageEnvironment(join(cwd, "data")) });
  const { port } = JSON.parse(running.output.stdout.split("\n")[0] ?? "") as { port: number };
  const discovery = new URL(app.environment["OIDC_DISCOVERY_URL"] ?? "");
  const metadata = await get(port, discovery.pathname, discovery.host);
  expect(metadata["issuer"]).toBe(app.environment["OIDC_ISSUER"]);
  expect(metadata["authorization_endpoint"]).toMatch(/^http:\/\/localhost:4370\//);
  for (const name of ["token_endpoint", "userinfo_endpoint", "jwks_uri"])
    expect(metadata[name]).toMatch(/^http:\/\/idp:4370\//);
  const keys = await get(port, new URL(String(metadata["jwks_uri"])).pathname, discovery.host);
  expect(keys["keys"]).toHaveLength(1);
});

interface Shared {
  readonly services: Record<
    "idp-1" | "idp-2",
    { readonly command: string; readonly build: unknown; readonly environment: Record<string, string> }
  > & { readonly db: { readonly environment: Record<string, string> } };
  readonly configs: { readonly nginx: { readonly content: string } };
}

test("two instances share a PostgreSQL, whose password is in no argument, and nginx knows both", async () => {
  const { services, configs } = read("compose-postgres.yaml") as Shared;
  const both = [services["idp-1"], services["idp-2"]];
  const store = new URL(await newDatabase());
  store.password = "";
  const started: number[] = [];
  for (const { command, build, environment } of both) {
    expect(build).toEqual(compose.services.idp.build);
    expect([environment["PGPASSWORD"], command]).toEqual([services.db.environment["POSTGRES_PASSWORD"], command]);
    const cwd = newFolder();
    const { IDP_STORE: given = "", IDP_URL: _, ...others } = environment;
    expect(new URL(given)).toMatchObject({ username: services.db.environment["POSTGRES_USER"], password: "" });
    expect(new URL(given).pathname).toBe(`/${services.db.environment["POSTGRES_DB"] ?? ""}`);
    const env = { ...imageEnvironment(join(cwd, "data")), ...others, PGPASSWORD: postgresPassword };
    const port = await freePort();
    const flags = [...command.split(" ").slice(1), "--port", port];
    await startIdp(flags, { cwd, env: { ...env, IDP_ADMIN_TOKEN: "a-token-of-this-test", IDP_STORE: store.href } });
    started.push(Number(port));
  }
  // nginx hands on the Host of the browser, which is that of the issuer.
  expect(configs.nginx.content).toMatch(/proxy_set_header Host \$\$http_host;/);
  for (const name of ["idp-1", "idp-2"]) expect(configs.nginx.content).toContain(`server ${name}:4370 `);
  const [one, two] = await Promise.all(
    started.map((port) => get(port, "/.well-known/openid-configuration", "localhost:4370")),
  );
  expect(two).toEqual(one);
  const keys = await Promise.all(started.map((port) => get(port, "/api/v2/oauth/jwks", "localhost:4370")));
  expect(keys[1]).toEqual(keys[0]);
});
