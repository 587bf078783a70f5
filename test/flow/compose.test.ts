import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { load } from "js-yaml";
import { expect, test } from "vitest";
import { newFolder, startIdp } from "../helpers/cli.ts";
import { dockerStages, imageEnvironment, texts } from "../helpers/dockerfile.ts";

/** `examples/compose.yaml`: the server's command as it stands there, but for the port; the app asks under the container's name. */

interface Compose {
  readonly services: {
    readonly idp: { readonly build: unknown; readonly command: string; readonly volumes: readonly string[] };
    readonly app: { readonly environment: Record<string, string> };
  };
  readonly volumes: Record<string, unknown>;
}

const compose = load(readFileSync(new URL("../../examples/compose.yaml", import.meta.url), "utf8")) as Compose;

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
  expect(services.idp.build).toEqual({ context: "..", dockerfile: "examples/Dockerfile" });
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
