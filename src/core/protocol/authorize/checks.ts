import type { Client } from "../../../store/store.ts";
import { responseModeOf } from "./target.ts";
import { grantTypesOf, mayUse } from "../../records/clients/clients.ts";
import { OAuthError } from "../../base/errors.ts";
import { addGrantType } from "../../records/fix-commands.ts";
import { commandOn } from "../../base/hint.ts";
import { checkLength, refuseRepeated, type SentRequest } from "./parameters.ts";
import type { Context } from "../../context.ts";
import { responseModesOf, type ResponseTarget } from "../../sign-in/response.ts";

/** The checks of single parameters of an authorization request; `request.ts` lists and orders all checks. */

const prompts = ["none", "login", "consent", "select_account"] as const;
export type Prompt = (typeof prompts)[number];

/** Each comes once, and together they are short enough to be kept (RFC 6749 3.1). */
export function checkParameters(sent: SentRequest): void {
  refuseRepeated(sent, null);
  checkLength(sent.texts);
}

/** Nothing external is fetched for a request, and no request object is obeyed (OpenID Connect Core 6). */
export function refuseRequestObjects({ values }: SentRequest): void {
  if (values.request !== undefined) {
    throw new OAuthError("request_not_supported", "request objects are not supported; send plain parameters", {
      rule: "OpenID Connect Core 6.1",
      parameter: "request",
      fix: "leave request out and send its members as parameters, or push them to the PAR endpoint",
    });
  }
  if (values.request_uri !== undefined) {
    throw new OAuthError(
      "request_uri_not_supported",
      "request_uri is taken from the pushed authorization request endpoint only; send plain parameters or push them",
      {
        rule: "RFC 9126 4",
        parameter: "request_uri",
        fix: "push the request to the PAR endpoint, and send the request_uri of its response",
      },
    );
  }
}

/** Some clients must push their requests (RFC 9126 6). */
export function refuseUnpushed(client: Client): void {
  if (client.require_pushed_authorization_requests === true) {
    throw new OAuthError(
      "invalid_request",
      `client "${client.client_id}" has to push its requests: POST them to the pushed authorization request endpoint first`,
      {
        rule: "RFC 9126 6",
        fix: {
          text: "To let the client send it without that",
          command: commandOn(["idp", "clients", "edit"], client.client_id, [
            "--set",
            "require_pushed_authorization_requests=false",
          ]),
        },
      },
    );
  }
}

/** What ASP.NET Core sends unless the app says otherwise. */
const isDefaultOfAspNet = ({ values }: SentRequest): boolean =>
  values.response_type === "id_token" && values.response_mode === "form_post";

export function checkResponseType({ layout }: Pick<Context, "layout">, sent: SentRequest, client: Client): void {
  // GitHub has no other, so that apps leave it out.
  const responseType = sent.values.response_type ?? (layout.github === true ? "code" : undefined);
  if (responseType === undefined)
    throw new OAuthError("invalid_request", 'response_type is missing; send "code"', {
      rule: "RFC 6749 4.1.1",
      fix: null,
    });
  if (responseType !== "code") {
    const inAspNet = isDefaultOfAspNet(sent) ? ' (ASP.NET Core: options.ResponseType = "code")' : "";
    const message = `response_type "${responseType}" is not supported; send "code"${inAspNet}`;
    throw new OAuthError("unsupported_response_type", message, {
      rule: "RFC 9700 2.1.2",
      parameter: "response_type",
      fix: "send response_type=code, and exchange the code for tokens",
    });
  }
  requireCodes(client);
}

export function requireCodes(client: Client): void {
  if (!mayUse(client, "authorization_code")) {
    throw new OAuthError(
      "unauthorized_client",
      `client "${client.client_id}" may not use authorization_code: its grant_types are "${grantTypesOf(client).join(" ")}"`,
      {
        rule: "RFC 6749 4.1.2.1",
        fix:
          client.redirect_uris.length === 0
            ? "give the client a redirect URI and the grant type authorization_code"
            : addGrantType(client, grantTypesOf(client), "authorization_code"),
      },
    );
  }
}

export function checkResponseMode(ctx: Pick<Context, "layout">, { values }: SentRequest): void {
  const mode = values.response_mode;
  if (mode !== undefined && responseModeOf(ctx, mode) === undefined) {
    throw new OAuthError(
      "invalid_request",
      `response_mode "${mode}" is not supported; use ${responseModesOf(ctx).join(" or ")}`,
      { rule: "RFC 6749 4.1.2.1", parameter: "response_mode", fix: null },
    );
  }
}

/** At Apple the name and the e-mail address come with the response, which a form has to carry. */
export function refuseQueryWithUser(
  { layout }: Pick<Context, "layout">,
  scopes: readonly string[],
  { mode }: ResponseTarget,
): void {
  const asked = scopes.filter((name) => name === "name" || name === "email");
  if (layout.apple !== true || asked.length === 0 || mode === "form_post") return;
  throw new OAuthError(
    "invalid_request",
    `response_mode must be form_post when the scope has ${asked.join(" or ")}; this is ${mode}`,
    // Apple's rule.
    { rule: null, parameter: "response_mode", fix: null },
  );
}

/** OpenID Connect Core 3.1.2.1. */
export function checkPrompt(value: string | undefined): readonly Prompt[] {
  const names = [...new Set((value ?? "").split(" ").filter((name) => name !== ""))];
  const unknown = names.filter((name) => !(prompts as readonly string[]).includes(name));
  if (unknown.length > 0) {
    throw new OAuthError(
      "invalid_request",
      `prompt "${unknown.join(" ")}" is not supported; use ${prompts.join(", ")}`,
      { rule: "OpenID Connect Core 3.1.2.1", parameter: "prompt", fix: null },
    );
  }
  if (names.includes("none") && names.length > 1) {
    throw new OAuthError("invalid_request", `prompt "none" cannot be joined with another: "${names.join(" ")}"`, {
      rule: "OpenID Connect Core 3.1.2.1",
      parameter: "prompt",
      fix: "send prompt=none alone, or without none",
    });
  }
  return names as Prompt[];
}

export function checkMaxAge(value: string | undefined): number | null {
  if (value === undefined) return null;
  if (!/^\d{1,9}$/.test(value)) {
    throw new OAuthError("invalid_request", `max_age "${value}" is not a whole number of seconds below 1,000,000,000`, {
      rule: "OpenID Connect Core 3.1.2.1",
      parameter: "max_age",
      fix: "send a number of seconds, such as max_age=300",
    });
  }
  return Number(value);
}
