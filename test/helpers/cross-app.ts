import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from "jose";
import type { Idp } from "../../src/index.ts";

/** A company's provider (the first issuer), a tool's authorization server beside it, and a partner that is another server with its own keys. */

export const partner = "https://partner.example.test";
export const ci = "https://ci.example.test";
const { privateKey, publicKey } = await generateKeyPair("RS256");
export const partnerKey = privateKey;
export const partnerKeys = {
  keys: [{ kty: "RSA", ...(await exportJWK(publicKey)), kid: "p1", alg: "RS256" }],
} as const;

export const tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange";
export const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
export const typeOf = (name: string): string => `urn:ietf:params:oauth:token-type:${name}`;

const redirect_uris = ["http://localhost:3000/callback"];
const grant_types = ["authorization_code", "refresh_token", tokenExchange, jwtBearer] as const;

export const fixtures = {
  users: [
    {
      username: "alice",
      id: "a-1",
      email: "alice@company.example.com",
      emailVerified: true,
      federated: [{ issuer: "tool", sub: "t-1" }],
    },
    { username: "bob", id: "b-1", email: "bob@company.example.com", emailVerified: true },
    { username: "eve", id: "e-1", email: "eve@company.example.com" },
  ],
  clients: [
    {
      client_id: "agent",
      client_secret: "s",
      redirect_uris,
      grant_types,
      id_jag_audiences: [{ issuer: "tool", client_id: "agent-at-tool" }, { issuer: "https://elsewhere.test" }],
    },
    { client_id: "other", client_secret: "s", redirect_uris, grant_types },
  ],
  settings: { trusted_issuers: [{ issuer: "tool" }] },
  issuers: {
    tool: {
      users: [
        {
          username: "al",
          id: "t-1",
          email: "al@tool.test",
          federated: [
            { issuer: "/", sub: "a-1" },
            { issuer: partner, sub: "p-al" },
          ],
        },
        { username: "bob", id: "t-2", email: "bob@company.example.com", emailVerified: true },
        { username: "unverified", id: "t-3", email: "eve@company.example.com", emailVerified: false },
      ],
      clients: [
        {
          client_id: "agent-at-tool",
          client_secret: "s",
          redirect_uris,
          grant_types,
          scope: "openid files:read files:write email",
          id_jag_audiences: [{ issuer: "/", client_id: "agent" }],
        },
        { client_id: "other", client_secret: "s", redirect_uris, grant_types },
      ],
      scopes: { "files:read": {}, "files:write": {}, "files:all": {} },
      settings: {
        trusted_issuers: [
          { issuer: "/", match: "email" as const },
          { issuer: partner, jwks: partnerKeys },
          { issuer: ci, jwks: partnerKeys, accepts: "workload" as const },
        ],
      },
    },
  },
};

export interface Answer {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

export async function post(
  { issuer }: { readonly issuer: string },
  client_id: string,
  parameters: Readonly<Record<string, string>>,
): Promise<Answer> {
  const response = await fetch(`${issuer}/api/v2/oauth/token`, {
    method: "POST",
    body: new URLSearchParams({ client_id, client_secret: "s", ...parameters }),
  });
  return { status: response.status, json: (await response.json()) as Answer["json"] };
}

/** The status and the error of an answer, and the names of what else is in it. A refusal has nothing else, such as a token. */
export const refused = ({ status, json }: Answer) => {
  const { error, ...rest } = json;
  return [status, error, Object.keys(rest).filter((name) => name !== "error_description")];
};
export const noGrant = [400, "invalid_grant", []];

/** An ID-JAG of the company for the tool. */
export async function idJagOf(
  company: Idp,
  { user = "alice", ...parameters }: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const { id_token } = await company.call("issue.tokens", { user, client: "agent" });
  return post(company, "agent", {
    grant_type: tokenExchange,
    requested_token_type: typeOf("id-jag"),
    subject_token: id_token,
    subject_token_type: typeOf("id_token"),
    audience: `${company.issuer}/i/tool`,
    ...parameters,
  });
}

/** Redeems an ID-JAG at the tool. */
export const redeem = (
  company: { readonly issuer: string },
  assertion: unknown,
  more: Readonly<Record<string, string>> = {},
): Promise<Answer> =>
  post({ issuer: `${company.issuer}/i/tool` }, "agent-at-tool", {
    grant_type: jwtBearer,
    assertion: String(assertion),
    ...more,
  });

let made = 0;

/** An ID-JAG of the partner for the tool, right but for what is given. */
export function partnerIdJag(
  company: { readonly issuer: string },
  claims: JWTPayload = {},
  header: object = {},
  key: CryptoKey = privateKey,
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const whole = {
    ...{ iss: partner, sub: "p-al", aud: `${company.issuer}/i/tool`, client_id: "agent-at-tool" },
    ...{ jti: `j${(made += 1)}`, iat: now, exp: now + 300, scope: "files:read" },
  };
  return new SignJWT({ ...whole, ...claims })
    .setProtectedHeader({ alg: "RS256", kid: "p1", typ: "oauth-id-jag+jwt", ...header })
    .sign(key);
}
