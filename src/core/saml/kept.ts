import type { ReadTx } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { hashOf } from "../base/secrets.ts";
import { newInteraction, recordOf, waitingTtl, type Browser } from "../sign-in/interactions.ts";
import { notWaiting, requireSmall, type Brought } from "./message.ts";

/** Messages that came by a cross-site POST, without cookies (SameSite): each waits, as it was sent, for the same browser to come with them. */

interface KeptMessage {
  readonly kind: "saml-kept" | "saml-kept-logout";
  readonly clientId: string;
  /** As it was sent. */
  readonly brought: Brought;
}

declare module "../sign-in/interactions.ts" {
  interface OtherRecords {
    readonly kept: KeptMessage;
  }
}

/** Keeps a message, which is checked again when it is used. @returns its name */
export const keepMessage = (ctx: Context, message: KeptMessage, browser: Browser): Promise<string> => {
  const record: KeptMessage = requireSmall({ ...message, brought: { ...message.brought, query: "" } });
  return ctx.store.transaction((tx) => {
    const interaction = {
      ...newInteraction(ctx, record, browser),
      // No browser has this id, so no page of a sign-in is found by its name.
      browser: hashOf(`kept ${ctx.random(16)}`),
      expiresAt: ctx.now() + waitingTtl,
    };
    tx.insert("interactions", interaction);
    return interaction.uid;
  });
};

/** @returns null: there is none of this name any more */
function findKept(tx: ReadTx, ctx: Context, kind: KeptMessage["kind"], uid: string): KeptMessage | null {
  const interaction = tx.get("interactions", uid);
  if (interaction === undefined || interaction.expiresAt <= ctx.now()) return null;
  const record = recordOf(interaction);
  return record.kind === kind ? record : null;
}

function requireKept(...of: Parameters<typeof findKept>): Brought {
  const kept = findKept(...of);
  if (kept === null) throw notWaiting();
  return kept.brought;
}

/** The AuthnRequest of this name, which a reload finds again. @throws {OAuthError} if there is none any more */
export const keptRequest = (ctx: Context, uid: string): Promise<Brought> =>
  ctx.store.read((tx) => requireKept(tx, ctx, "saml-kept", uid));

/** The LogoutRequest of this name, once. @throws {OAuthError} if there is none any more */
export const takeKeptLogout = (ctx: Context, uid: string): Promise<Brought> =>
  ctx.store.transaction((tx) => {
    const brought = requireKept(tx, ctx, "saml-kept-logout", uid);
    tx.remove("interactions", uid);
    return brought;
  });

/** The service provider of an AuthnRequest that was kept; null: there is none of this name. */
export const keptSender = (ctx: Context, uid: string): Promise<string | null> =>
  ctx.store.read((tx) => findKept(tx, ctx, "saml-kept", uid)?.clientId ?? null);
