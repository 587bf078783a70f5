import type { Client } from "../../../../store/store.ts";
import type { Context } from "../../../context.ts";
import type { Paragraph } from "../../../base/errors.ts";
import type { AnyTokenResponse, TokenResult } from "../settle.ts";

/**
 * What a parameter of a token request is:
 *
 * - `secret`: no output repeats it
 * - `open`: a text that may be shown
 * - `registered`: an open one that is compared, letter by letter, with what the client registered
 * - `list`: an open one that may be sent more than once (RFC 8707 2)
 */
type ParameterKind = "secret" | "open" | "registered" | "list";

type Parameters = Readonly<Record<string, ParameterKind>>;

/** The values of the parameters of a request. */
export type Values<P extends Parameters = Parameters> = {
  readonly [Name in keyof P]: {
    readonly [K in ParameterKind]: K extends "list" ? readonly string[] : string | undefined;
  }[P[Name]];
};

/** A grant type, as its file declares it. `list.ts` has all of them. */
export interface GrantType<P extends Parameters = Parameters, Name extends string = string> {
  /** The value of `grant_type`. */
  readonly name: Name;
  /** What it takes beside the credentials of the client. Each name is of one kind in all grant types. */
  readonly parameters: P;
  /** What a client needs for it, and the rule that says so; null: nothing. */
  readonly needs: { readonly what: "authentication" | "redirect_uris"; readonly rule: Paragraph } | null;
  /**
   * @param client authenticated, allowed to use this grant type, with what that needs
   * @param jkt thumbprint of the key to which the tokens are to be bound; null: bearer tokens
   * @throws {OAuthError} of RFC 6749 5.2
   */
  grant(ctx: Context, client: Client, request: Values<P>, jkt: string | null): Promise<TokenResult<AnyTokenResponse>>;
}

/** Declares a grant type. The kinds of its parameters give the type of its request. */
export const grantType = <const P extends Parameters, const Name extends string>(
  declared: GrantType<P, Name>,
): GrantType<P, Name> => declared;
