import { importJWK, SignJWT, type JWK } from "jose";
import { OperationError } from "../../core/base/errors.ts";
import { callServer, type Server } from "../../serve/remote.ts";

/** Tokens of the issuer that a check sends in its place. An export has the key that signs them. */

interface Key {
  readonly kid: string;
  readonly alg: string;
  readonly jwk: JWK;
  readonly retiredAt: string | null;
}

/** A token that the issuer's own key signs. @throws {OperationError} refused if there is none */
export async function signedBy(
  server: Server,
  alg: string,
  typ: string,
  payload: Readonly<Record<string, unknown>>,
): Promise<string> {
  const { keys = [] } = (await callServer(server, "export", {})) as { readonly keys?: readonly Key[] };
  const key = keys.find((one) => one.alg === alg && one.retiredAt === null);
  if (key === undefined) throw new OperationError("refused", `tokens signed with ${alg} cannot be made here`);
  const header = { alg, typ, kid: key.kid };
  return new SignJWT({ ...payload }).setProtectedHeader(header).sign(await importJWK(key.jwk, alg));
}
