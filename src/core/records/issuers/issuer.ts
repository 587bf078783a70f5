/*
 * core/records/issuers: the issuers of a process. issuer.ts says what an issuer is, changes its address, and finds the issuer that a
 * refused code belongs to; issuer-view.ts is how one is shown.
 */
import type { ReadTx } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { OperationError, OAuthError, type OAuthErrorCode } from "../../base/errors.ts";
import { issuerForm, issuerName } from "../../base/identifiers.ts";
import { addressBefore, issuerOf, type Layout } from "../../base/layout/layout.ts";
import { recordsIn, type IssuerView } from "./issuer-view.ts";
import { didYouMean } from "../../base/nearest.ts";

/** An issuer is a URL that is used exactly as given (RFC 8414 2). @throws {OperationError} usage */
export function checkIssuer(issuer: string): void {
  if (issuerForm.test(issuer) && URL.canParse(issuer)) return;
  throw new OperationError(
    "usage",
    `issuer "${issuer}" is not an http or https URL like http://host:port/path, percent-encoded, without query, fragment, user and semicolon`,
    { hint: "For example: http://localhost:4370" },
  );
}

/** `/tenant` of `https://idp.test/tenant`, as it is written. */
const pathOf = (issuer: string): string => issuer.replace(/^https?:\/\/[^/]+/, "");

/**
 * Changes scheme, host and port, for an outside port that is known only later. Every token names its issuer, so those of the
 * previous one are no longer accepted. The other issuers of the process move as well, and other processes on the data follow.
 * @throws {OperationError} usage; conflict on a shared store, whose instances have one issuer
 */
export async function changeIssuer(ctx: Context, issuer: string): Promise<void> {
  checkIssuer(issuer);
  if (ctx.issuers.isShared) {
    throw new OperationError(
      "conflict",
      `the issuer of a shared store cannot change while its servers run: ${ctx.issuer}`,
      {
        hint: "Start each instance with the same --issuer",
      },
    );
  }
  const address = addressBefore(issuer, ctx.layout);
  const path = pathOf(address);
  if (path !== pathOf(ctx.address)) {
    throw new OperationError("usage", `issuer "${issuer}" has another path than ${ctx.issuer}`, {
      hint: "Only scheme, host and port can change while the server runs. For another path, start it with --issuer",
    });
  }
  const origin = address.slice(0, address.length - path.length);
  for (const { ctx: one } of ctx.issuers.open()) {
    await rememberIssuer({ store: one.store, issuer: issuerOf(origin + pathOf(one.address), one.layout) });
  }
}

/**
 * Commands that work on the data use the issuer that it was last served under. Processes that serve it, this one too, use its address from
 * now on.
 */
export const rememberIssuer = ({ store, issuer }: Pick<Context, "store" | "issuer">): Promise<void> =>
  store.transaction((tx) => {
    if (tx.get("meta", "issuer")?.value !== issuer) tx.put("meta", { id: "issuer", value: issuer });
  });

export function rememberedIssuer(tx: ReadTx): string | null {
  const issuer = tx.get("meta", "issuer")?.value;
  return typeof issuer === "string" ? issuer : null;
}

/** The address once the data remembers another issuer. One with another path is ignored: that would need other routes. */
export function movedAddress(address: string, remembered: string | null, layout: Layout): string {
  if (remembered === null) return address;
  const moved = addressBefore(remembered, layout);
  return pathOf(moved) === pathOf(address) ? moved : address;
}

/** @throws {OperationError} usage */
export function checkIssuerName(name: string): void {
  if (issuerName.test(name)) return;
  const message = `${JSON.stringify(name)} is not a name of an issuer: 1 to 64 letters, digits, _ and -`;
  throw new OperationError("usage", message, {
    hint: { text: "For example", command: ["idp", "issuers", "add", "tenant-a"] },
  });
}

/** An issuer whose store is open. */
export const viewOf = async (
  name: string,
  { issuer, store, addedBy }: Pick<Context, "issuer" | "store" | "addedBy">,
): Promise<IssuerView> => ({
  ...{ name, issuer, data: store.location, ...(await store.read(recordsIn)), problem: null },
  ...(addedBy !== null && { addedBy }),
});

/** The tester who added the issuer; null: an admin, or the start. */
export function addedBy(tx: ReadTx): string | null {
  const name = tx.get("meta", "addedBy")?.value;
  return typeof name === "string" ? name : null;
}

/** An issuer whose data could not be opened. */
export const brokenView = (name: string, issuer: string, error: unknown): IssuerView => ({
  name,
  issuer,
  data: null,
  users: 0,
  clients: 0,
  grants: 0,
  problem: error instanceof Error ? error.message : String(error),
});

const listOf = (names: readonly string[]): string =>
  names.length === 0 ? "is only the first one, which has no name" : `are ${names.join(", ")}, and the first one`;

/** @param known the existing names */
export const unknownIssuer = (name: string, known: readonly string[]): OperationError =>
  new OperationError("not_found", `there is no issuer "${name}"; there ${listOf(known)}`, {
    hint: didYouMean(name, known, { text: "To list them", command: ["idp", "issuers", "list"] }),
  });

export const issuerExists = (name: string): OperationError =>
  new OperationError("conflict", `there is an issuer "${name}" already`, {
    hint: { text: "To remove it with all of its data", command: ["idp", "issuers", "remove", name] },
  });

/** @param own one of the tester's issuers */
export const tooManyIssuers = (tester: string, limit: number, own: string): OperationError =>
  new OperationError("conflict", `'${tester}' has ${limit} issuers, which is the most that a tester has at a time`, {
    hint: { text: "To remove one with all of its data", command: ["idp", "issuers", "remove", own] },
  });

const ofOther = (ctx: Pick<Context, "issuer">, code: OAuthErrorCode, what: string, issuer: string): OAuthError =>
  new OAuthError(code, `${what} is one of the issuer ${issuer}; this is ${ctx.issuer}`, {
    rule: code === "invalid_request_uri" ? "RFC 9126 4" : "RFC 6749 5.2",
    fix: `send it to the issuer that it belongs to, ${issuer}`,
  });

/**
 * Two issuers of a vendor have the same data. A code, pushed request or device code belongs to the one whose endpoint it came by.
 * @param what it is, as in "code" @returns the refusal at the other one; null: it belongs to this one
 */
export function refuseOfOther(
  ctx: Pick<Context, "address" | "issuer" | "layout">,
  { issuerPath }: { readonly issuerPath: string },
  code: OAuthErrorCode,
  what: string,
): OAuthError | null {
  if (issuerPath === ctx.layout.issuer) return null;
  const issuer = issuerOf(ctx.address, { issuer: issuerPath });
  return ofOther(ctx, code, what, issuer);
}

/**
 * Codes and request URIs do not say whose they are, as a JWT does. So a refused one is looked for at the other issuers of the process, and
 * the refusal names the one that it belongs to.
 * @param what is refused, as in "code" @param has whether an issuer has it
 * @returns the error to throw instead
 */
export async function namingIssuer<E>(
  ctx: Pick<Context, "issuer" | "issuers" | "store">,
  refusal: E,
  what: string,
  has: (tx: ReadTx) => boolean,
): Promise<E | OAuthError> {
  if (!(refusal instanceof OAuthError)) return refusal;
  for (const {
    ctx: { issuer, store },
  } of ctx.issuers.open()) {
    if (store === ctx.store || !(await store.read(has))) continue;
    return ofOther(ctx, refusal.code, what, issuer);
  }
  return refusal;
}
