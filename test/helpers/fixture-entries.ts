/** Fixtures with one entry of these fields, beside the fields that it needs. */

export const user = (fields: object) => ({ users: [{ username: "x", ...fields }] });
export const client = (fields: object) => ({
  clients: [{ client_id: "c", redirect_uris: ["http://localhost/cb"], ...fields }],
});
export const service = (fields: object) =>
  client({ redirect_uris: undefined, client_secret: "s", grant_types: ["client_credentials"], ...fields });
export const settings = (fields: object) => ({ settings: fields });
export const jwk = { kty: "EC", crv: "P-256", x: "x", y: "y" };
export const grant = (fields: object) => ({
  users: [{ username: "alice" }],
  scopes: { "orders:read": {} },
  clients: [
    { client_id: "app", redirect_uris: ["http://localhost/cb"] },
    { client_id: "narrow", redirect_uris: ["http://localhost/cb"], scope: "openid email" },
  ],
  grants: [{ user: "alice", client: "app", scope: "openid", ...fields }],
});
