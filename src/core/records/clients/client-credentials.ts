import type { Peer } from "./document-types.ts";
import type { Client } from "../../../store/store.ts";

/** The credentials of a request, as the http layer read them. */
export interface ClientCredentials {
  /** Values of an `Authorization: Basic` header, form-decoded (RFC 6749 2.3.1); null: none was sent. */
  readonly basic: {
    readonly id: string;
    readonly secret: string;
    /** The secret as it was sent. */
    readonly raw: string;
  } | null;
  /** `client_id` and `client_secret` of the body. */
  readonly id: string | undefined;
  readonly secret: string | undefined;
  /** `client_assertion` and its type (RFC 7523 2.2). */
  readonly assertion: string | undefined;
  readonly assertionType: string | undefined;
  /** The address of the sender. */
  readonly address: string;
  /** The base of the back-channel endpoints under the name that was asked; null: they are those of the issuer. */
  readonly base: string | null;
  /** Who causes the read of a metadata document. */
  readonly peer: Peer;
  /** The client of the sign-in that the request goes on with, where it has a metadata document. Absent: the request begins something. */
  readonly began?: Client | undefined;
  /** Sent to the PAR endpoint. */
  readonly isPushed?: boolean;
}
