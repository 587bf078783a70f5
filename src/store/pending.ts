/** Short-lived records: most wait for a person or a client, for minutes. Lasting ones are in records.ts. */
import type { Client } from "./records.ts";

/** A sign-in or a sign-out that waits for the person in front of the browser, with the steps done so far. */
export interface Interaction {
  readonly uid: string;
  /** SHA-256 of the browser cookie that began it. */
  readonly browser: string;
  readonly csrf: string;
  /** What it is for: a type of `core/sign-in/interactions.ts`. */
  readonly purpose: unknown;
  /** Who proved who they are during this interaction, and how: a type of `core/records/step-up/proofs.ts`; null: nobody yet. */
  readonly login: { readonly userId: string; readonly met: readonly string[] } | "canceled" | null;
  /** The scopes that were allowed, and the session in which; `allowed` null: the user denied. Null: nothing is decided yet. */
  readonly consent: { readonly sessionId: string; readonly allowed: readonly string[] | null } | null;
  readonly expiresAt: number;
  /** Whose share of such records it is part of. */
  readonly from?: string;
}

/** Belongs to one of the issuers that the paths of an issuer's layouts make, where there are two on the same data. */
interface OfIssuer {
  /** The path of the issuer by whose endpoint it came, below the address. */
  readonly issuerPath: string;
}

/** Began with a client whose metadata document may change before it ends. */
interface OfDocument {
  /** The client as the document described it then. Absent: the client is registered. */
  readonly document?: Client;
}

/** An authorization code. The record stays a while after it was redeemed, so that a replay is recognized. */
export interface Code extends OfIssuer, OfDocument {
  /** SHA-256 of the code, base64url. */
  readonly id: string;
  readonly clientId: string;
  readonly userId: string;
  readonly grantId: string;
  readonly epoch: string;
  /** The part of the request that the token endpoint needs: a type of `core/protocol/tokens/codes.ts`. */
  readonly request: unknown;
  readonly family: string;
  /** Seconds since 1970. */
  readonly authTime: number;
  readonly amr: readonly string[];
  readonly acr: string;
  readonly sid: string | null;
  readonly usableUntil: number;
  readonly usedAt: number | null;
  readonly expiresAt: number;
}

/** An authorization request that its client pushed beforehand (RFC 9126). It stays for as long as the sign-in that it began. */
export interface PushedRequest extends OfIssuer, OfDocument {
  /** The `request_uri`. */
  readonly id: string;
  readonly clientId: string;
  readonly parameters: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The sign-in that it began, which a reload continues. Absent: it was not used. */
  readonly uid?: string;
  readonly expiresAt: number;
  /** As in {@link Interaction}. */
  readonly from?: string;
}

/** A device that waits for its user (RFC 8628). */
export interface DeviceRequest extends OfIssuer, OfDocument {
  /** SHA-256 of the device code, base64url. */
  readonly id: string;
  /** The user code as it is compared: capital letters without the dash. */
  readonly userCode: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  /** `acr_values` of the request. */
  readonly acrValues: readonly string[];
  /** `unmet`: its user cannot meet any of those values. */
  readonly status: "waiting" | "allowed" | "denied" | "unmet" | "used";
  /** Set with `allowed`. */
  readonly grant: { readonly userId: string; readonly grantId: string; readonly epoch: string } | null;
  /** Set with `allowed`: seconds since 1970, and how the user signed in. */
  readonly authTime: number;
  readonly amr: readonly string[];
  readonly acr: string;
  readonly sid: string | null;
  /** Milliseconds: a device that polls before this gets slow_down. */
  readonly nextPollAt: number;
  /** Seconds between two polls. */
  readonly interval: number;
  /** Milliseconds. The record stays a while longer, so that an expired code is recognized. */
  readonly usableUntil: number;
  readonly expiresAt: number;
  /** As in {@link Interaction}. */
  readonly from?: string;
}

/** What a tester did to the clock and to responses, where the inspector is, and which instance sends to SCIM servers. */
export interface Testing {
  readonly id:
    "clock" | "faultList" | "fixtureFaults" | `fault ${string}` | "places" | "scim" | "ledger" | `leaving ${string}`;
  /** A type of `core/base/clock.ts`, `core/testing/controls/faults/faults.ts`, `core/records/inspector/access.ts`, `core/scim/live.ts` or `core/testing/ledger/shared.ts`. */
  readonly value: unknown;
}

/** What somebody asked for. One record for each, so that the next one costs the same however many there are. */
export interface Act {
  readonly id: string;
  /** A type of `core/records/operators/acts.ts`. */
  readonly act: unknown;
}

/** A key that opens the inspector once, or a session of it. */
export interface InspectorPass {
  /** SHA-256 of the key, or of the value of the cookie. */
  readonly id: string;
  /** SHA-256 of the token that it ends with. */
  readonly tokenHash: string;
  /** A type of `core/records/inspector/access.ts`. */
  readonly opener: unknown;
  /** The place of the inspector that it opens: another run of the servers has another. */
  readonly place: string;
  /** Milliseconds, in reality, whatever a tester did to the clock; null: it ends with the process. */
  readonly until: number | null;
}

/** An identifier that may be used once only: the `jti` of a client assertion or of a DPoP proof. */
export interface UsedId {
  readonly id: string;
  readonly expiresAt: number;
}
