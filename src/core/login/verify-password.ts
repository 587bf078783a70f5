import type { Store, User } from "../../store/store.ts";
import { digestKey, digestOf } from "../fixture-files/digest.ts";
import { sameSecret } from "../secrets.ts";
import { matchesHash } from "../users/passwords.ts";
import type { PendingPasswords } from "./pending-passwords.ts";

/**
 * Whether this is the user's password. If it is a fixture password that still waits to be hashed, it is hashed before the others.
 * @param user undefined if nobody has the name that was typed: the same time is spent
 */
export async function verifyPassword(
  { passwords, store }: { readonly passwords: Pick<PendingPasswords, "hashNow">; readonly store: Store },
  user: User | undefined,
  password: string,
): Promise<boolean> {
  if (user === undefined) return matchesHash(password, null);
  const pending = user.passwordPending ? await passwords.hashNow(user.id) : null;
  const known = pending ?? user.passwordHash;
  if (known !== null || !user.passwordPending) return matchesHash(password, known);
  // Another process will hash it. The same time is spent.
  await matchesHash(password, null);
  const key = await store.read(digestKey);
  return key !== undefined && sameSecret(digestOf(key, password), user.passwordDigest ?? "");
}
