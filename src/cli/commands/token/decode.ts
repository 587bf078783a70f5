import { readFileSync } from "node:fs";
import type { ClockState } from "../../../core/base/clock.ts";
import {
  decodeToken,
  findTokens,
  type DecodedToken,
  type FoundToken,
} from "../../../core/protocol/tokens/read/decode.ts";
import { duration, relative, utcTime } from "../../../text/time.ts";
import { asNumber, exactJson } from "../../../text/json.ts";
import { packageFile } from "../../../files/package.ts";
import type { Invocation } from "../../invocation.ts";
import { answer, type Outcome } from "../../output/print.ts";
import type { Style } from "../../output/style.ts";
import { pairs } from "../../output/table.ts";
import { byClock, issuerClock } from "../../target/clock.ts";
import { examples } from "../../commander.ts";
import type { Declare } from "../../act.ts";
import { readText, tokenGiven } from "./input.ts";

/** A token, and the moved clock of its issuer. */
interface Said {
  readonly name: string | null;
  readonly said: DecodedToken & { readonly clock?: ClockState };
}

async function read(cli: Invocation, { name, token }: FoundToken): Promise<Said> {
  const said = decodeToken(token, cli.now());
  const clock = await issuerClock(cli, said.payload["iss"]);
  return { name, said: clock === null ? said : { ...decodeToken(token, Date.parse(clock.now)), clock } };
}

/**
 * `idp token decode`: what a token says. It needs no server, no data and no key. Where the issuer is within reach and its clock was moved,
 * times are judged by that clock, which the document then has as `clock`. The document is one object for one token, an object with
 * `access_token`, `id_token` and `refresh_token` for a token response, and an array for several lines.
 */
export async function tokenDecode(cli: Invocation, argument: string | undefined): Promise<Outcome> {
  const text = await readText(cli, "decode", argument);
  const message = await samlMessage(cli, text);
  if (message !== null) return message;
  const found = findTokens(text);
  const decoded = await Promise.all(found.map((one) => read(cli, one)));
  const named = decoded.every(({ name }) => name !== null);
  const document: unknown = named
    ? Object.fromEntries(decoded.map(({ name, said }) => [name, said]))
    : decoded.length === 1
      ? decoded[0]?.said
      : decoded.map(({ said }) => said);
  const notes = [
    { text: "Signature not checked. To check it, pipe the token into", command: ["idp", "token", "verify", "-"] },
  ];
  const shown = decoded.map(({ name, said }) => ({
    title: name === null ? kindOf(said) : `${name}  ${kindOf(said)}`,
    said,
  }));
  return {
    ...answer(
      shown,
      (tokens, style) => tokens.map(({ title, said }) => describe(title, said, cli.now(), style)).join("\n\n"),
      { notes },
    ),
    document,
  };
}

/** A SAML message, in any of its forms; null for anything else. XML code is loaded only for one. */
async function samlMessage(cli: Invocation, text: string): Promise<Outcome | null> {
  const trimmed = text.trim();
  const mayBe = /^\ufeff?\s*<|SAML(?:Request|Response)=/.test(trimmed) || /^[A-Za-z0-9+/=\s]{100,}$/.test(trimmed);
  if (!mayBe) return null;
  const { decodeSaml, samlTextIn } = await import("../../../core/saml/read.ts");
  const xml = samlTextIn(trimmed);
  if (xml === null) return null;
  const said = decodeSaml(xml, cli.now());
  return answer(
    said,
    ({ xml: whole, ...rest }, style) => `${style.bold(said.message)}\n${exactJson(rest, 2)}\n\n${whole}`,
    {
      notes: [
        { text: "Signature not checked. To check it, pipe the message into", command: ["idp", "token", "verify", "-"] },
      ],
    },
  );
}

/** Kinds by `typ` (RFC 9068 2.1, RFC 9449 4.2, OpenID Connect Back-Channel Logout 2.4, RFC 9101 10.8; the draft of ID-JAGs). */
const byType: Readonly<Record<string, string>> = {
  "at+jwt": "access token",
  "rt+jwt": "refresh token",
  "logout+jwt": "logout token",
  "oauth-id-jag+jwt": "ID-JAG",
  "dpop+jwt": "DPoP proof",
  "oauth-authz-req+jwt": "request object",
};

/** The likely kind of a token: by `typ`, else by the claims that only one kind has. */
function kindOf({ header, payload }: DecodedToken): string {
  const typ = typeof header.typ === "string" ? header.typ.toLowerCase().replace(/^application\//, "") : "";
  if (Object.hasOwn(byType, typ)) return byType[typ] ?? "";
  if ("nonce" in payload || "at_hash" in payload || "azp" in payload) return "ID token";
  if ("scope" in payload || "scp" in payload) return "access token, by its claims";
  return "token";
}

/** @param machine the time of this machine, in milliseconds since 1970 */
function describe(title: string, { header, payload, clock }: Said["said"], machine: number, style: Style): string {
  const now = (clock === undefined ? machine : Date.parse(clock.now)) / 1000;
  const by = clock === undefined ? "" : ` (${byClock(clock)})`;
  const rows = (members: DecodedToken["payload"], text: (name: string, value: unknown) => string): string =>
    pairs(
      Object.entries(members).map(([name, value]) => [name, text(name, value)] as const),
      style,
      "  ",
    ) || style.dim("  none");
  const scopes = typeof payload["scope"] === "string" ? payload["scope"].split(" ").filter(Boolean) : [];
  const words = scopes.length === 0 ? {} : scopeWords();
  return [
    style.bold(title),
    "Header",
    rows(header, (_name, value) => plain(value)),
    "Claims",
    rows(payload, (name, value) =>
      times.has(name) ? timeText(name, value, now, style) + (name === "exp" ? by : "") : plain(value),
    ),
    ...(scopes.length === 0
      ? []
      : [
          "Scopes",
          pairs(
            scopes.map((name) => [name, words[`scope.${name}`] ?? style.dim("not one of those built in")] as const),
            style,
            "  ",
          ),
        ]),
  ].join("\n");
}

/** The words of the consent page, which need no server. Only the server has words for scopes of fixtures. */
const scopeWords = (): Readonly<Record<string, string>> =>
  JSON.parse(readFileSync(packageFile("templates/locales/en.json"), "utf8")) as Record<string, string>;

const plain = (value: unknown): string => (typeof value === "string" ? value : exactJson(value, 0));

/** Claims that are times in seconds since 1970 (RFC 7519 4.1, OpenID Connect Core 2 and 5.1). */
const times: ReadonlySet<string> = new Set(["exp", "iat", "nbf", "auth_time", "updated_at"]);

function timeText(name: string, value: unknown, now: number, style: Style): string {
  const time = asNumber(value);
  if (time === undefined) return plain(value);
  const when = utcTime(time);
  return when === null
    ? `${plain(value)}  ${style.yellow("not a date")}`
    : `${plain(value)}  ${when}  ${distance(name, time - now, style)}`;
}

function distance(name: string, seconds: number, style: Style): string {
  if (name === "exp") {
    return seconds > 0 ? style.green(`expires in ${duration(seconds)}`) : style.red(`expired ${duration(seconds)} ago`);
  }
  if (seconds > 1 && name !== "updated_at") return style.yellow(`${duration(seconds)} from now`);
  return relative(seconds);
}

/** Declares `idp token decode`. */
export const declareDecode: Declare = (token, { act }) => {
  token
    .command("decode")
    .description("show the contents of one or more tokens without checking them")
    .argument("[token]", tokenGiven)
    .addHelpText(
      "after",
      examples("idp token decode eyJhbGciOi…", "pbpaste | idp token decode", "idp token decode - --json < tokens.json"),
    )
    .action(act(tokenDecode));
};
