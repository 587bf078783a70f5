import { toBase32 } from "../../core/step-up/otp.ts";
import { userSchema } from "../../core/users/schema.ts";
import { isObject, type JsonObject } from "../../text/json.ts";
import { addHash } from "../draft-users.ts";
import { numberOf, textOf, type Carried } from "../draft.ts";
import type { Entry } from "../entry.ts";
import { jsonIn } from "./mappers.ts";

/** Credentials of a user of a Keycloak realm: the password, and the secret of the one-time codes. */

const typeOf = (credential: Entry): string => credential.text("type") ?? "password";
const oneTimeTypes = ["otp", "totp", "hotp"];

/** The plain password, if the file has it. */
export const plainPassword = (credentials: readonly Entry[]): Carried | undefined =>
  credentials.find((one) => typeOf(one) === "password" && one.text("value") !== undefined)?.carry("value");

/** The object that a text of a credential is; since Keycloak 8 their values are in two of them. */
function objectIn(credential: Entry, name: string): JsonObject {
  const value = credential.get(name);
  const read = typeof value === "string" ? jsonIn(value) : value;
  return isObject(read) ? read : {};
}

/** The one-time codes of a user: the first that an authenticator app and this server compute alike. The others are noted. */
export function oneTimeCodes(credentials: readonly Entry[]): { factors?: Carried; otp_secret?: Carried } {
  let made: { factors?: Carried; otp_secret?: Carried } = {};
  for (const credential of credentials.filter((one) => oneTimeTypes.includes(typeOf(one)))) {
    const [secret, problem] = secretOf(credential);
    const { place } = credential;
    if (problem !== null) credential.leave(problem);
    else if (made.factors !== undefined) credential.leave("is another one-time code of the user, who has one here");
    else made = { factors: [["otp"], place], otp_secret: [secret, place] };
  }
  return made;
}

/** The secret as base32, or why it cannot be one. */
function secretOf(credential: Entry): readonly [secret: string, problem: string | null] {
  const data = objectIn(credential, "credentialData");
  const type = typeOf(credential);
  const kind = textOf(data["subType"]) ?? (type === "otp" ? "totp" : type);
  const digits = numberOf(data["digits"] ?? credential.get("digits")) ?? 6;
  const period = numberOf(data["period"] ?? credential.get("period")) ?? 30;
  const algorithm = textOf(data["algorithm"] ?? credential.get("algorithm")) ?? "HmacSHA1";
  const isUsual = kind === "totp" && digits === 6 && period === 30 && /^(?:Hmac)?SHA-?1$/i.test(algorithm);
  if (!isUsual) {
    const given = `one-time codes with ${kind}, ${digits} digits, ${period} s, ${algorithm}`;
    return [
      "",
      `${given}: here they have totp, 6 digits, 30 s, HmacSHA1, and factors: [otp] gives the user such codes`,
    ];
  }
  const value = textOf(
    objectIn(credential, "secretData")["value"] ?? credential.get("hashedSaltedValue") ?? credential.get("value"),
  );
  // Keycloak computes codes with the bytes of the text, unless it says that it is base32.
  const secret = data["secretEncoding"] === "BASE32" ? value : toBase32(Buffer.from(value ?? ""));
  const isFit = secret !== undefined && userSchema.shape.otp_secret.safeParse(secret).success;
  return [
    secret ?? "",
    isFit
      ? null
      : "the secret of the one-time codes has fewer than 16 bytes, or is not base32: factors: [otp] gives the user another",
  ];
}

/** Notes what is not carried over of a credential. */
export function leaveCredential(credential: Entry): void {
  const type = typeOf(credential);
  if (type === "webauthn" || type === "webauthn-passwordless")
    credential.leave(
      "a passkey works for its own server only: factors: [passkey] gives the user a button in its place",
    );
  else if (type !== "password" && !oneTimeTypes.includes(type))
    credential.leave(`a credential of type ${type} is not carried over`);
  else if (type === "password" && credential.text("value") === undefined)
    addHash(credential.draft, credential.place, algorithmOf(credential));
  else if (type === "password" && credential.on("temporary") === true)
    credential.leave("the password stays: nobody has to change it", "temporary");
  credential.ignoreAll();
}

function algorithmOf(credential: Entry): string {
  return textOf(objectIn(credential, "credentialData")["algorithm"]) ?? credential.text("algorithm") ?? "of Keycloak";
}
