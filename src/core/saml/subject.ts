import { nameIdAtClient, type ReadTx, type User } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { nameIdFormats, rightFormat, spaces, type NameIdKind } from "../records/service-providers/names.ts";
import { nameValueOf, type ServiceProvider } from "../records/service-providers/provider.ts";
import { childOf, textIn, type XmlElement } from "../base/xml/parse.ts";
import { entityIdOf } from "./addresses.ts";
import { reading } from "./message.ts";
import { unknownPrincipal, type SamlRequest, type SamlTarget } from "./purpose.ts";

/** The `Subject` of an AuthnRequest: an assertion about this user, or none (SAML Profiles 4.1.4.1). */

/**
 * Who is asked for. Without the picker, a name that nobody has gets the login page as well: the response must not tell which users exist.
 * @throws {SamlStatusError} for a name that nobody has
 */
export function namedUser(
  tx: ReadTx,
  ctx: Context,
  message: XmlElement,
  provider: ServiceProvider,
  target: SamlTarget,
): Pick<SamlRequest, "userId" | "loginHint"> {
  const subject = reading(() => childOf(message, spaces.assertion, "Subject"));
  if (subject === undefined) return { userId: null, loginHint: null };
  const name = reading(() => childOf(subject, spaces.assertion, "NameID"));
  if (name === undefined) {
    // A confirmation alone names nobody; these name somebody in a way that is not read here.
    const other = ["BaseID", "EncryptedID"].find((one) => subject.children.some((child) => child.name === one));
    if (other === undefined) return { userId: null, loginHint: null };
    throw unknownPrincipal(target, `the Subject has a ${other}; only a NameID is read`);
  }
  const value = reading(() => textIn(name));
  const { Format: format } = name.attributes;
  const user = isOfOthers(name, ctx, provider) ? undefined : userOf(tx, ctx, provider, format, value);
  if (user !== undefined) return { userId: user.id, loginHint: ctx.offersPicker ? user.username : value };
  const right = format === undefined ? null : rightFormat(format);
  if (!ctx.offersPicker && right === null) return { userId: "", loginHint: value };
  throw unknownPrincipal(
    target,
    right === null
      ? "nobody here has the NameID of the Subject"
      : `the format of the Subject's NameID is "${format ?? ""}", which is not defined; the right name is ${right}`,
  );
}

/** A name that another identity provider gave, or that is for another service provider. */
function isOfOthers({ attributes }: XmlElement, ctx: Context, { entityId }: ServiceProvider): boolean {
  const { NameQualifier: by = "", SPNameQualifier: of = "" } = attributes;
  return (by !== "" && by !== entityIdOf(ctx)) || (of !== "" && of !== entityId);
}

/** Which kinds of names a format may hold. */
function kindsOf(format: string | undefined, byDefault: NameIdKind): readonly NameIdKind[] {
  if (format === undefined || format === nameIdFormats.unspecified)
    return [...new Set([byDefault, "username", "email"] as const)];
  const kind = (["email", "persistent", "transient"] as const).find((one) => nameIdFormats[one] === format);
  return kind === undefined ? [] : [kind];
}

function userOf(
  tx: ReadTx,
  ctx: Context,
  { entityId, nameid }: ServiceProvider,
  format: string | undefined,
  value: string,
): User | undefined {
  for (const kind of kindsOf(format, nameid)) {
    const found =
      kind === "transient"
        ? ofSession(tx, entityId, value)
        : [...tx.all("users")].find((user) => nameValueOf(ctx, { kind, entityId }, user) === value);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A transient name is known as long as its session. */
function ofSession(tx: ReadTx, entityId: string, value: string): User | undefined {
  const [session] = tx.everything("sessions", "nameId", nameIdAtClient(entityId, value));
  return session === undefined ? undefined : tx.get("users", session.userId);
}
