/** Records for the store's tests: whole ones, with what a test cares about given. */
import type { Client, Code, DeadToken, Grant, Session, User } from "../../src/store/store.ts";

const time = "2024-01-15T09:30:00.000Z";

export const user = (username: string, fields: Partial<User> = {}): User => ({
  id: `id-${username}`,
  username,
  displayName: username,
  email: `${username}@example.com`,
  emailVerified: true,
  passwordHash: null,
  passwordPending: false,
  passwordDigest: null,
  status: "active",
  avatar: { baseUrl: "https://cdn.example.test", path: `/${username}.png`, color: "#4f46e5" },
  about: "",
  note: null,
  language: "en",
  theme: null,
  createdAt: time,
  updatedAt: time,
  website: null,
  location: null,
  birthDate: null,
  phone: null,
  socialLinks: [],
  claims: {},
  ...fields,
});

export const client = (client_id: string, redirect_uris: readonly string[], fields: Partial<Client> = {}): Client => ({
  client_id,
  redirect_uris,
  epoch: "e1",
  createdAt: time,
  updatedAt: time,
  ...fields,
});

export const grant = (userId: string, clientId: string, fields: Partial<Grant> = {}): Grant => ({
  id: `${userId}/${clientId}`,
  userId,
  clientId,
  scopes: ["openid"],
  status: "active",
  epoch: "e1",
  by: "user",
  createdAt: time,
  updatedAt: time,
  revokedAt: null,
  ...fields,
});

export const session = (id: string, expiresAt: number, fields: Partial<Session> = {}): Session => ({
  id,
  sid: `sid-${id}`,
  userId: "id-alice",
  authTime: 0,
  amr: ["pwd"],
  clientIds: [],
  createdAt: time,
  expiresAt,
  ...fields,
});

export const deadToken = (jti: string, expiresAt: number): DeadToken => ({ jti, reason: "revoked", expiresAt });

export const code = (id: string, expiresAt: number): Code => ({
  id,
  issuerPath: "",
  clientId: "app",
  userId: "id-alice",
  grantId: "g",
  epoch: "e1",
  request: {},
  family: "f",
  authTime: 0,
  amr: [],
  acr: "urn:idp:single-factor",
  sid: null,
  usableUntil: expiresAt,
  usedAt: null,
  expiresAt,
});
