import type { User } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { sourceValue } from "../service-providers/name-id.ts";
import type { ServiceProvider } from "../service-providers/provider.ts";
import type { AttributeRow } from "../service-providers/shapes.ts";
import { isXmlText } from "../xml/write.ts";

/** The attributes of an assertion (SAML Core 2.7.3). */

export interface Attribute extends Omit<AttributeRow, "source"> {
  readonly values: readonly string[];
}

/** A claim that no assertion can carry. */
export class ClaimProblem extends Error {
  override readonly name = "ClaimProblem";
}

const claimIn = ({ source }: AttributeRow): string => ("claim" in source ? source.claim : source.value);

/**
 * Values are text, one for each item of a list.
 * @returns the attributes, and remarks on the claims that were left out
 * @throws {ClaimProblem} for a character that XML cannot have
 */
export function attributesOf(
  ctx: Pick<Context, "layout" | "address">,
  { attributes, ownAttributes }: ServiceProvider,
  user: User,
): { readonly attributes: readonly Attribute[]; readonly remarks: readonly string[] } {
  const kept: Attribute[] = [];
  const left: string[] = [];
  for (const row of attributes) {
    const value = sourceValue(ctx, row.source, user);
    // Only an operator who names a claim expects it.
    if (value === undefined && !ownAttributes) continue;
    const values: string[] = [];
    for (const one of [value].flat()) {
      if (one === null || one === undefined || typeof one === "object") {
        left.push(`${claimIn(row)} (${one === null ? "null" : one === undefined ? "not there" : "an object"})`);
      } else {
        const text = typeof one === "string" ? one : JSON.stringify(one);
        if (!isXmlText(text))
          throw new ClaimProblem(
            `the claim "${claimIn(row)}" of ${user.username} has a character that XML cannot have, so attribute "${row.name}" cannot be sent`,
          );
        values.push(text);
      }
    }
    const { source: _, ...named } = row;
    if (values.length > 0) kept.push({ ...named, values });
  }
  return { attributes: kept, remarks: left.length === 0 ? [] : [`attributes left out: ${left.join(", ")}`] };
}
