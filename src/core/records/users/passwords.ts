import { scrypt, timingSafeEqual } from "node:crypto";

/**
 * Passwords are kept as `scrypt$N$r$p$salt$hash` (RFC 7914), salt and hash base64url. Computing one that somebody set takes about 25 ms of a
 * worker thread.
 */

interface Parameters {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** Characters. Normalizing a password of 50,000 characters would block the main thread for two seconds. */
export const maxPasswordLength = 1024;

/** The cost of a new hash, by where the password comes from. Those of fixtures are in a file as plain text (docs/decisions/cost-of-fixture-passwords.md). */
const costs = { person: { N: 2 ** 14, r: 8, p: 1 }, fixture: { N: 2 ** 9, r: 8, p: 1 } } as const;
const saltBytes = 16;
const hashBytes = 32;

/** scrypt needs 128·N·r bytes. A hash that asks for more than this is not ours, and is not computed. */
const maxMemory = 64 * 1024 * 1024;

function hashWith(password: string, salt: Buffer, { N, r, p }: Parameters): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // NFKC: the same letters, however the keyboard put them together (RFC 8265 4.2 asks for a normal form, so does NIST SP 800-63B).
    scrypt(password.normalize("NFKC"), salt, hashBytes, { N, r, p, maxmem: 2 * maxMemory }, (error, hash) =>
      error === null ? resolve(hash) : reject(error),
    );
  });
}

/**
 * The salted hash of a password, to keep.
 * @param random `bytes` random bytes as base64url
 */
export async function hashPassword(
  password: string,
  random: (bytes: number) => string,
  origin: keyof typeof costs = "person",
): Promise<string> {
  const cost = costs[origin];
  const salt = Buffer.from(random(saltBytes), "base64url");
  const hash = await hashWith(password, salt, cost);
  return ["scrypt", cost.N, cost.r, cost.p, salt.toString("base64url"), hash.toString("base64url")].join("$");
}

interface StoredHash {
  readonly parameters: Parameters;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

const storedHash = /^scrypt\$(\d{1,7})\$(\d{1,2})\$(\d{1,2})\$([\w-]{22,86})\$([\w-]{43})$/;

/** The parts of a kept hash; null if it is not a hash, or asks for more work than ours ever do. */
function parseHash(text: string): StoredHash | null {
  const parts = storedHash.exec(text);
  if (parts === null) return null;
  const [, N, r, p, salt = "", hash = ""] = parts;
  const parameters = { N: Number(N), r: Number(r), p: Number(p) };
  const isPowerOfTwo = parameters.N > 1 && (parameters.N & (parameters.N - 1)) === 0;
  if (!isPowerOfTwo || parameters.r < 1 || parameters.p < 1 || parameters.p > 4) return null;
  if (128 * parameters.N * parameters.r > maxMemory) return null;
  return { parameters, salt: Buffer.from(salt, "base64url"), hash: Buffer.from(hash, "base64url") };
}

/** Computed when there is no hash to compare with, so that the response time does not reveal which users exist. */
const nobody = (parameters: Parameters): StoredHash => ({
  ...{ parameters, salt: Buffer.alloc(saltBytes), hash: Buffer.alloc(hashBytes) },
});

/** libuv has four threads for blocking work. This many check passwords, so one stays free to write to the disk. */
const lanes = 3;
let working = 0;
const waiting: (() => void)[] = [];

/** Computes hashes in parallel, at most as many as there are lanes; the others wait. */
async function inLane<T>(work: () => Promise<T>): Promise<T> {
  if (working === lanes) await new Promise<void>((resolve) => waiting.push(resolve));
  else working += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) working -= 1;
    else next();
  }
}

/**
 * Whether this is the password of a kept hash. It always takes the time of one hash of each cost, so that nobody learns whether there is such a
 * user, nor where the password comes from. Null matches no password.
 */
export async function matchesHash(password: string, kept: string | null): Promise<boolean> {
  const parsed = kept === null ? null : parseHash(kept);
  const own = parsed ?? nobody(costs.person);
  const other = nobody(own.parameters.N === costs.fixture.N ? costs.person : costs.fixture);
  const isTooLong = password.length > maxPasswordLength;
  const text = isTooLong ? "" : password;
  const equal = await inLane(async () => {
    const computed = await hashWith(text, own.salt, own.parameters);
    await hashWith(text, other.salt, other.parameters);
    return timingSafeEqual(computed, own.hash);
  });
  return equal && parsed !== null && !isTooLong;
}
