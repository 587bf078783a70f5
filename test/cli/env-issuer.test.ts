import { createServer } from "node:http";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { newFolder, startIdp } from "../helpers/cli.ts";
import { idpIn, startHere } from "../helpers/command.ts";

/** `idp env` prints the issuer of its data, and says so if another server responds there. */

/** A server that is not ours, on a port that may have been ours. @returns its address */
async function occupy(port: number, answer: string): Promise<string> {
  const server = createServer((_request, response) => response.end(answer)).listen(port, "localhost");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
  });
  const address = server.address();
  return `http://localhost:${typeof address === "object" ? address?.port : ""}`;
}

test("the port of the data's last server is taken by another one", async () => {
  const cwd = newFolder();
  const { issuer, child, ended } = await startIdp([], { cwd });
  expect(await idpIn(cwd, ["env"])).toMatchObject({ code: 0, stderr: "" });
  child.kill("SIGTERM");
  await ended;
  expect(await idpIn(cwd, ["env"])).toMatchObject({ code: 0, stderr: "" });
  await occupy(Number(new URL(issuer).port), "not idp");
  const { code, stdout, stderr } = await idpIn(cwd, ["env"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(`OIDC_ISSUER=${issuer}\n`) });
  expect(stderr).toContain(`Another server answers at ${issuer}`);
  expect(stderr).toContain("--port auto");
  expect((await idpIn(cwd, ["env", "--for", "spring"])).stderr).toContain(`Another server answers at ${issuer}`);
});

test("the running server has been given the address of another one as its issuer", async () => {
  const cwd = newFolder();
  const other = await occupy(0, JSON.stringify({ status: "ok", issuer: "http://other.example.test" }));
  await startHere(["--issuer", other], { cwd });
  expect(await idpIn(cwd, ["env"])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`Another server answers at ${other}`),
  });
});
