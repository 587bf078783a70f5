/** What this server fetches from its clients: their keys. Never for an authorization request, never through a redirect. */

import { OAuthError } from "./errors.ts";

/** Milliseconds, and bytes. */
const timeLimit = 5000;
const sizeLimit = 102_400;

/**
 * A JSON document of a client.
 * @throws {OAuthError} invalid_client where it cannot be had
 */
export async function fetchJson(url: string): Promise<unknown> {
  try {
    const response = await fetch(url, {
      headers: { accept: "application/json" },
      redirect: "error",
      signal: AbortSignal.timeout(timeLimit),
    });
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    return JSON.parse(await readLimited(response)) as unknown;
  } catch (error) {
    const reason = error instanceof Error && error.message.startsWith("it ") ? error.message : "it could not be read";
    throw new OAuthError("invalid_client", `${url} gave no usable document: ${reason}`, { cause: error });
  }
}

async function readLimited(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > sizeLimit) throw new Error(`it is larger than ${sizeLimit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
