import { createPrivateKey, type JsonWebKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { rsa } from "../../src/core/keys/keys.ts";

/**
 * Before each file of tests: servers in this process take RSA keys that are ready, since making one takes longer than most tests. Each takes
 * the next one. `test/cli/start.test.ts` proves that they are made.
 */
const keys = JSON.parse(readFileSync(join(import.meta.dirname, "rsa-keys.json"), "utf8")) as readonly JsonWebKey[];

let taken = 0;
rsa.generate = () => {
  const key = keys[(taken += 1) % keys.length] ?? {};
  return Promise.resolve({ privateKey: createPrivateKey({ key, format: "jwk" }) });
};
