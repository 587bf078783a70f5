import { describe, expect, test } from "vitest";
import { newReport } from "../../src/client/check.ts";
import { deviceFlow } from "../../src/client/device-flow.ts";
import { discover } from "../../src/client/provider.ts";
import { startStubProvider, type Bends } from "../helpers/stub-provider.ts";
import { app, at, metadata, prepare } from "../helpers/checked-sign-in.ts";

/** The device flow at a provider: its waits, and what a provider has to do to fail it. */

describe("the device flow", () => {
  const device = (bends: Bends, show: () => Promise<void> = () => Promise.resolve()) =>
    prepare({ bends }, (run) => deviceFlow(run, { scope: "openid", timeout: 5 }, show));
  test("waits for as long as the user has not decided, and longer where it is asked to", async () => {
    const answers = ["authorization_pending", "slow_down", "authorization_pending"];
    const stub = await startStubProvider({
      "/token": (usual) => (answers.length > 0 ? { status: 400, body: { error: answers.shift() } } : { body: usual }),
    });
    const waits: number[] = [];
    const wait = async (milliseconds: number) => waits.push(milliseconds);
    const report = newReport();
    const run = { provider: await discover(stub.issuer), client: app, report, random: String, now: Date.now, wait };
    const { claims } = await deviceFlow(run, { scope: "openid", timeout: 60 }, () => Promise.resolve());
    expect(report.checks.filter(({ ok }) => !ok)).toEqual([]);
    expect([claims?.["sub"], waits]).toEqual(["someone", [1000, 6000, 6000]]);
  });

  test.each<[string, Bends, string, RegExp]>([
    [
      "is not offered",
      metadata({ device_authorization_endpoint: undefined }),
      "device",
      /names no device_authorization_endpoint/,
    ],
    [
      "has no user code",
      at("/device", (usual) => ({ body: { ...usual, user_code: undefined } })),
      "device",
      /no user_code/,
    ],
    [
      "has no life",
      at("/device", (usual) => ({ body: { ...usual, expires_in: "soon" } })),
      "device",
      /numbers of seconds/,
    ],
    [
      "leads to no address",
      at("/device", (usual) => ({ body: { ...usual, verification_uri: "javascript:alert(1)" } })),
      "device",
      /not an address that a user can open/,
    ],
    ["is denied", at("/token", { status: 400, body: { error: "access_denied" } }), "token", /access_denied/],
    ["expires", at("/token", { status: 400, body: { error: "expired_token" } }), "token", /expired_token/],
  ])("%s", async (_what, bends, name, why) => {
    const ended = await device(bends);
    expect(ended.failed).toEqual([name]);
    expect(ended.why).toMatch(why);
  });
});
