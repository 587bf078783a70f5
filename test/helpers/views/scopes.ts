/** The scopes of the sample views. */

export const openid = {
  name: "openid",
  title: null,
  locked: true,
  declined: false,
  values: [
    { name: "id", value: "7123456789012345678" },
    { name: "displayName", value: "Alice Adams" },
    { name: "username", value: "alice" },
    { name: "avatar", value: "https://cdn.example.test/avatars/alice.png" },
    { name: "about", value: "" },
    { name: "language", value: "en" },
    { name: "theme", value: null },
  ],
};

export const email = {
  name: "email",
  title: null,
  locked: false,
  declined: false,
  values: [
    { name: "email", value: "alice@example.com" },
    { name: "emailVerified", value: true },
  ],
};

export const address = { name: "address", title: null, locked: false, declined: false, values: [] };

export const profile = { name: "profile", title: null, locked: false, declined: false, values: [] };

export const details = {
  name: "details",
  title: null,
  locked: false,
  declined: false,
  values: [
    { name: "website", value: "https://alice.example.test/a/rather/long/address/that/has/to/wrap/somewhere" },
    { name: "location", value: null },
    { name: "birthDate", value: "1990-05-17" },
  ],
};

export const phone = {
  name: "phone",
  title: null,
  locked: false,
  declined: true,
  values: [
    { name: "phone", value: "+905551112233" },
    { name: "phone_number_verified", value: false },
  ],
};

export const social = {
  name: "social",
  title: null,
  locked: false,
  declined: false,
  values: [{ name: "socialLinks", value: "GitHub https://github.com/alice" }],
};

export const orders = {
  name: "orders:read",
  title: "See your orders",
  titleLang: "en",
  locked: false,
  declined: false,
  values: [{ name: "roles", value: '["admin"]' }],
};

export const givenName = {
  name: "claim:given_name",
  title: null,
  locked: false,
  declined: false,
  values: [{ name: "given_name", value: "Alice" }],
};

export const offline = { name: "offline_access", title: null, locked: false, declined: false, values: [] };
