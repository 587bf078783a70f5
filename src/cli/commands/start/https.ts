import { createPrivateKey, generateKeyPairSync, hash, X509Certificate } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { OperationError } from "../../../core/base/errors.ts";
import { selfSignedCertificate } from "../../../core/records/keys/certificate.ts";
import { trustAlso } from "../../../core/base/outbound.ts";
import type { Invocation } from "../../invocation.ts";
import { requireTrusted } from "../../../store/json/folder.ts";
import { readNamedFile } from "../../input/read.ts";
import { putFile } from "../../output/put-file.ts";

/** How a server gets https: from files that exist (`--cert`, `--key`), or with a certificate of its own (`--https`). */

interface HttpsFlags {
  readonly cert?: string;
  readonly key?: string;
  readonly https?: true;
  readonly issuer?: string;
  readonly allowHost?: readonly string[];
  readonly memory?: true;
}

export interface ServedTls {
  readonly tls: { readonly cert: string; readonly key: string };
  /** The certificate that clients must trust, as a whole path; null: it is the user's own. */
  readonly caFile: string | null;
  /** Removes what belongs to this run only. */
  readonly remove: () => void;
}

const day = 86_400_000;

const usage = (message: string, hint: string): OperationError => new OperationError("usage", message, { hint });

/** The names in the certificate: what browsers and apps on this machine use, the issuer's host, and those of `--allow-host`. */
function namesFor({ issuer, allowHost = [] }: HttpsFlags): readonly string[] {
  const host = issuer !== undefined && URL.canParse(issuer) ? new URL(issuer).hostname.replace(/^\[|\]$/g, "") : null;
  const allowed = allowHost
    .filter((name) => name !== "*")
    .flatMap((name) => (name.startsWith(".") ? [name.slice(1), `*${name}`] : [name]));
  return [...new Set(["localhost", "127.0.0.1", "::1", ...(host === null ? [] : [host]), ...allowed])];
}

/** Whether a certificate has each name, its key, and more than 30 days left. @param now the real time, milliseconds since 1970 */
function isUsable(cert: string, key: string, names: readonly string[], now: number): boolean {
  try {
    const certificate = new X509Certificate(cert);
    const listed = new Set((certificate.subjectAltName ?? "").split(", "));
    const isListed = (name: string): boolean =>
      isIP(name) === 0 ? listed.has(`DNS:${name}`) : certificate.checkIP(name) !== undefined;
    return (
      names.every(isListed) &&
      certificate.checkPrivateKey(createPrivateKey(key)) &&
      Date.parse(certificate.validTo) - now > 30 * day
    );
  } catch {
    return false;
  }
}

const textOf = (file: string): string | null => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
};

/** The certificate in a folder, which is made where it is missing, lacks a name, or is about to end. It is valid for a year. */
async function certificateIn(folder: string, names: readonly string[], now: number): Promise<ServedTls["tls"]> {
  const [certFile, keyFile] = [join(folder, "tls-cert.pem"), join(folder, "tls-key.pem")];
  const [cert, key] = [textOf(certFile), textOf(keyFile)];
  if (cert !== null && key !== null && isUsable(cert, key, names, now)) return { cert, key };
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  // OpenSSL finds a trusted certificate by its subject, and looks at one of each subject only. A caller may trust several of ours.
  const id = hash("sha256", publicKey.export({ type: "spki", format: "der" })).slice(0, 12);
  const made = {
    cert: selfSignedCertificate({
      ...{ key: privateKey, subject: `idp ${id}, for development only`, names },
      // Clocks of containers are a little behind.
      ...{ notBefore: now - day, notAfter: now + 364 * day },
    }),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
  await putFile(keyFile, made.key, 0o600);
  await putFile(certFile, made.cert, 0o600);
  return made;
}

/**
 * The certificate that a server serves https with; null: it serves http.
 * @param place the data folder; null: a folder for this run only
 * @throws {OperationError} usage
 */
export async function httpsOf(
  cli: Pick<Invocation, "store" | "now" | "env">,
  flags: HttpsFlags,
  place: string | null,
): Promise<ServedTls | null> {
  const { cert, key, https } = flags;
  if (https === true) {
    if (cert !== undefined || key !== undefined)
      throw usage("--https makes a certificate of its own", "Leave out --cert and --key, or leave out --https");
    if (cli.store !== null)
      throw usage(
        "--https keeps its certificate in a data folder, which --store has not",
        "Give every instance the same --cert and --key",
      );
    if (place !== null) requireTrusted(place);
    const folder = place ?? mkdtempSync(join(tmpdir(), "idp-https-"));
    if (place !== null) mkdirSync(place, { recursive: true, mode: 0o700 });
    const tls = await certificateIn(folder, namesFor(flags), cli.now());
    const callers = textOf(cli.env["NODE_EXTRA_CA_CERTS"] ?? "");
    const distrust = trustAlso([tls.cert, ...(callers === null ? [] : [callers])]);
    return {
      tls,
      caFile: resolve(folder, "tls-cert.pem"),
      remove: () => {
        distrust();
        if (place === null) rmSync(folder, { recursive: true, force: true });
      },
    };
  }
  if (cert === undefined && key === undefined) return null;
  if (cert === undefined || key === undefined) {
    const [given, missing] = cert === undefined ? ["key", "cert"] : ["cert", "key"];
    throw new OperationError("usage", `--${given} needs --${missing} too`, {
      hint: { text: "For example", command: ["idp", "start", "--cert", "localhost.pem", "--key", "localhost-key.pem"] },
    });
  }
  const read = (flag: string, file: string): string =>
    readNamedFile(file, { code: "usage", what: `--${flag} ${file}`, hint: "Name a PEM file" }).toString();
  return { tls: { cert: read("cert", cert), key: read("key", key) }, caFile: null, remove: () => undefined };
}

/** For NODE_EXTRA_CA_CERTS, which names one file: the caller's own certificates, and this one. @returns the path of a new file beside it */
export async function extraCaFile(caFile: string, callers: string | undefined): Promise<string> {
  const own = textOf(caFile) ?? "";
  const others = callers === undefined || callers === "" ? "" : (textOf(callers) ?? "");
  const file = join(resolve(caFile, ".."), "extra-ca-certs.pem");
  await putFile(file, `${others.trimEnd()}\n${own}`.trimStart(), 0o600);
  return file;
}
