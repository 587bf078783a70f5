import type { Client } from "../../../store/store.ts";

/** Who makes this server read a document. */
export interface Peer {
  /** The address of the connection. */
  readonly address: string;
  /** False: a page sends the request by itself. It reads no document, since any page could make this server read what it likes. */
  readonly mayRead: boolean;
  /** Receives the document that the request uses, or that it is refused for. */
  readonly sawDocument?: (document: unknown) => void;
}

export interface ClientDocuments {
  /**
   * The client that a URL describes now: read, or remembered for as long as the document allows.
   * @throws {OAuthError} invalid_client with the rule that the document breaks; too_many_requests
   */
  read(url: string, peer: Peer): Promise<Client>;
  /** Forgets every document and every refusal, and how much each peer let this server read. */
  forget(): void;
}

/** A client that a request named, and its document if it has one. */
export interface Named {
  readonly clientId: string;
  /** The client as its document described it when the sign-in began. Absent: the client is registered. */
  readonly document?: Client | undefined;
}
