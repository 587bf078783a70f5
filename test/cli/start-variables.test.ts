import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Option } from "../../src/cli/commander.ts";
import { expect, test } from "vitest";
import { takeVariables } from "../../src/cli/flags/variables.ts";
import { idp, newFolder } from "../helpers/cli.ts";
import { commandTree, idpIn, startHere } from "../helpers/command.ts";

/** `IDP_<FLAG>` sets each flag of `idp start`. */

const startCommand = async () => {
  const start = (await commandTree()).get("start");
  if (start === undefined) throw new Error("there is no command start");
  return start;
};

/** A value that each flag accepts. */
const sample = ({ argChoices, flags }: Option): string => {
  if (flags.includes("--factors")) return "pwd,otp";
  if (argChoices !== undefined) return argChoices.at(-1) ?? "";
  return /<(seconds|port|count)>$/.test(flags) ? "77" : "password";
};

test.each((await startCommand()).options.map((option) => [option.long ?? "", option] as const))(
  "%s: the variable sets what the flag sets",
  async (long, option) => {
    const name = `IDP_${long.slice(2).replaceAll("-", "_").toUpperCase()}`;
    const typed = await startCommand();
    const isSwitch = option.isBoolean() || option.negate;
    typed.parseOptions(isSwitch ? [long] : [long, sample(option)]);
    const set = await startCommand();
    takeVariables(set, { [name]: isSwitch ? "true" : sample(option) });
    expect(set.opts()).toEqual(typed.opts());
    expect(Object.keys(set.opts())).toEqual([option.attributeName()]);
  },
);

test.each([
  ["1", true],
  ["true", true],
  ["0", undefined],
  ["false", undefined],
  ["", undefined],
])("a boolean flag as %j", async (text, value) => {
  const start = await startCommand();
  takeVariables(start, { IDP_MEMORY: text });
  expect(start.opts()["memory"]).toBe(value);
});

test("the port of a Kubernetes service named idp is no port: it is ignored, and a line says so", async () => {
  const typed = await startCommand();
  takeVariables(typed, { IDP_PORT: "tcp://10.96.0.12:4370", IDP_SERVICE_HOST: "10.96.0.12", IDP_SERVICE_PORT: "4370" });
  expect(typed.opts()).toEqual({});
  const { output } = await startHere(["--memory", "--port", "auto"], {
    cwd: newFolder(),
    env: { IDP_PORT: "tcp://10.96.0.12:4370" },
  });
  expect(output.stderr).toContain("IDP_PORT is ignored, because it is not a port: tcp://10.96.0.12:4370\n");
});

test("values of repeatable flags stand between commas; the text of a fixture file is one", async () => {
  const start = await startCommand();
  const text = '{ "users": [], "clients": [] }';
  takeVariables(start, { IDP_ALLOW_HOST: "a.test, b.test", IDP_HTTP_REDIRECT_HOSTS: "app,web", IDP_FIXTURES: text });
  expect(start.opts()).toEqual({
    allowHost: ["a.test", "b.test"],
    httpRedirectHosts: ["app", "web"],
    fixtures: [text],
  });
});

test("the flag wins", async () => {
  const start = await startCommand();
  start.parseOptions(["--port", "1", "--allow-host", "a.test"]);
  takeVariables(start, { IDP_PORT: "2", IDP_ALLOW_HOST: "b.test" });
  expect(start.opts()).toEqual({ port: 1, allowHost: ["a.test"] });
});

test.each([
  ["IDP_MEMORY", "yes", "It must be true, 1, false or 0"],
  ["IDP_PORT", "http", "It must be a number from 0 to 65535, or auto."],
  ["IDP_CONSENT", "maybe", "Allowed choices are ask, skip."],
  ["IDP_CODE_TTL", "soon", "It must be a whole number of seconds"],
])("exit 2 for %s=%s, by its name", async (name, value, hint) => {
  const { code, stderr } = await idpIn(newFolder(), ["start"], "", { [name]: value });
  expect([code, stderr]).toEqual([2, expect.stringContaining(`${name} is "${value}"`)]);
  expect(stderr).toContain(hint);
});

test("the variables of the environment stand for their flags", async () => {
  const cwd = newFolder();
  mkdirSync(join(cwd, "more"));
  writeFileSync(join(cwd, "more", "a.json"), JSON.stringify({ users: [{ username: "eve" }] }));
  const env = {
    IDP_DATA: "kept",
    IDP_ISSUER: "http://idp.example.test",
    IDP_FIXTURES: "more",
    IDP_ADMIN_TOKEN: "an-admin-token-of-mine",
  };
  const { issuer, output } = await startHere([], { cwd, env });
  expect(issuer).toBe("http://idp.example.test");
  expect(output.stdout).toContain("users 1 added");
  expect(readFileSync(join(cwd, "kept", "lock.json"), "utf8")).toContain("an-admin-token-of-mine");
  const users = await idp(["users", "list", "--json"], { cwd, env });
  expect(JSON.parse(users.stdout)).toEqual([expect.objectContaining({ username: "eve" })]);
});

test("variables stand for the flags of start, since containers get nothing else", async () => {
  const cwd = newFolder();
  const admin = { IDP_ADMIN_TOKEN: "an-admin-token-of-mine" };
  const env = { ...admin, IDP_MEMORY: "1", IDP_ACCESS_TOKEN_TTL: "5m", IDP_READY_FILE: "ready.json" };
  const { issuer } = await startHere([], { cwd, env });
  expect(readdirSync(cwd)).toEqual(["ready.json"]);
  const words = ["issue", "tokens", "--user", "alice", "--client", "demo-app", "--json", "--url", issuer];
  expect(JSON.parse((await idpIn(cwd, words, "", admin)).stdout)).toMatchObject({ expires_in: 300 });
});
