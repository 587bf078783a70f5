import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { packageFile } from "../files/package.ts";

/** The pages that a browser sees at the redirect URI. They look like those of the server, and each is complete in one answer. */

export interface CallbackPage {
  readonly title: string;
  readonly sentence: string;
  /** Names and values. */
  readonly rows?: readonly (readonly [string, string])[];
}

const marks: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escape = (text: string): string => text.replace(/[&<>"]/g, (mark) => marks[mark] ?? "");

export function sendCallbackPage(response: ServerResponse, status: number, page: CallbackPage): void {
  const { title, sentence, rows = [] } = page;
  const style = readFileSync(packageFile("templates/style.css"), "utf8");
  const facts = rows.map(([name, value]) => `<div><dt>${escape(name)}</dt><dd>${escape(value)}</dd></div>`).join("\n");
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; frame-ancestors 'none'`,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    connection: "close",
  };
  response.writeHead(status, headers).end(
    `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escape(title)}</title><style>${style}</style></head>
<body>
<header><p class="mark">idp login</p></header>
<main><h1>${escape(title)}</h1>
<p class="lead">${escape(sentence)}</p>
${facts === "" ? "" : `<dl class="facts">${facts}</dl>`}</main>
</body>
</html>
`,
  );
}
