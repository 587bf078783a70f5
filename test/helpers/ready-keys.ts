import { createPrivateKey, generateKeyPair, type JsonWebKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { rsa } from "../../src/core/keys/keys.ts";

/**
 * Before each file of tests: servers in this process take RSA keys that are ready, since making one takes longer than most tests. Each takes
 * the next one. No server can have one key twice, so they are made when all are taken. `test/cli/start.test.ts` proves that they are made.
 */
const keys = JSON.parse(readFileSync(join(import.meta.dirname, "rsa-keys.json"), "utf8")) as readonly JsonWebKey[];
const generate = promisify(generateKeyPair);

let taken = 0;
rsa.generate = () => {
  const key = keys[taken];
  taken += 1;
  if (key === undefined) return generate("rsa", { modulusLength: 2048 });
  return Promise.resolve({ privateKey: createPrivateKey({ key, format: "jwk" }) });
};
