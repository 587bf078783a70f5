import crypto, { createPrivateKey, createPublicKey, type JsonWebKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";

/** The two functions of Node.js that take longer than most tests are quick in this process. Load this before our own modules. */

const { generateKeyPair, scrypt } = crypto;

/** Passwords are hashed at a low cost. `test/cli/edit.test.ts` proves the real one. */
const cheapScrypt = ((...[password, salt, length, options, done]: Parameters<typeof scrypt>) => {
  scrypt(password, salt, length, options.N === 2 ** 14 ? { ...options, N: 2 ** 4 } : options, done);
}) as typeof scrypt;

/**
 * RSA keys are ready. Each caller takes the next one: no server can have one key twice, so they are made when all are taken.
 * `test/cli/start.test.ts` proves that they are made.
 */
const keys = JSON.parse(readFileSync(join(import.meta.dirname, "rsa-keys.json"), "utf8")) as readonly JsonWebKey[];
const generate = promisify(generateKeyPair);
let taken = 0;
const readyKeyPair = Object.assign(
  ((...given: Parameters<typeof generateKeyPair>) => generateKeyPair(...given)) as typeof generateKeyPair,
  {
    [promisify.custom]: (type: string, options: { readonly modulusLength: number }) => {
      const key = type === "rsa" && options.modulusLength === 2048 ? keys[taken++] : undefined;
      if (key === undefined) return generate(type as "rsa", options);
      const privateKey = createPrivateKey({ key, format: "jwk" });
      return Promise.resolve({ privateKey, publicKey: createPublicKey(privateKey) });
    },
  },
);

Object.assign(crypto, { scrypt: cheapScrypt, generateKeyPair: readyKeyPair });
syncBuiltinESMExports();

/** Lets the next caller take the first key. */
export function putKeysBack(): void {
  taken = 0;
}
