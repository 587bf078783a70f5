/*
 * core/saml/flaws: responses that are wrong in one respect. signed.ts changes what is said before it is signed, signatures.ts the signature, and forging.ts
 * puts the identity of somebody else beside a signature that is valid. spoil.ts chooses.
 */
import type { User } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import type { FlawName } from "../../controls/faults/flaw-list.ts";
import { nameIdOf } from "../../service-providers/name-id.ts";
import { drafted, materialOf, postOf, type SamlPost } from "../response.ts";
import type { SamlPlan } from "../purpose.ts";
import { forgings } from "./forging.ts";
import { signatureFlaws } from "./signatures.ts";
import { signedFlaws, type Spoiling } from "./signed.ts";

export async function spoilingOf(ctx: Context, plan: SamlPlan): Promise<Omit<Spoiling, "forged">> {
  const material = await materialOf(ctx, plan);
  return { ...material, drafts: drafted(material) };
}

/** Whether a response can have a flaw. */
export function canHave({ drafts }: Pick<Spoiling, "drafts">, flaw: FlawName): boolean {
  if (flaw === "in-response-to-wrong") return drafts.response.inResponseTo !== null;
  return flaw in signedFlaws || flaw in signatureFlaws || flaw in forgings;
}

/** The response with a flaw. @param forge the username whose identity is forged */
export async function spoilResponse(
  given: Omit<Spoiling, "forged">,
  flaw: FlawName,
  forge: string | undefined,
): Promise<SamlPost> {
  const { ctx } = given;
  const user = forge === undefined ? undefined : await ctx.store.read((tx) => tx.find("users", "username", forge));
  const spoiling = { ...given, forged: user === undefined ? null : forgedDrafts(given, user) };
  const message = await messageOf(spoiling, flaw);
  return postOf(given.plan.request, message, given.drafts.remarks);
}

function messageOf(spoiling: Spoiling, flaw: FlawName): ReturnType<(typeof signedFlaws)[keyof typeof signedFlaws]> {
  const spoil = { ...signedFlaws, ...signatureFlaws, ...forgings }[flaw as keyof typeof signedFlaws] as
    (typeof signedFlaws)[keyof typeof signedFlaws] | undefined;
  if (spoil === undefined) throw new Error(`no response of SAML can have the flaw ${flaw}`);
  return spoil(spoiling);
}

/** Name and attributes of the other person; the rest stays as it is. */
function forgedDrafts(given: Omit<Spoiling, "forged">, user: User): Spoiling["forged"] {
  const { ctx, plan } = given;
  const nameId = nameIdOf(ctx, plan.request.nameId, user) ?? plan.nameId;
  return drafted({ ...given, user, plan: { ...plan, nameId, userId: user.id } });
}
