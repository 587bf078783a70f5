/** The tabs in their order, with their paths below `/_idp/`. */
export const tabs = {
  "sign-ins": "",
  users: "users",
  clients: "clients",
  grants: "grants",
  tokens: "tokens",
  testing: "testing",
  fixtures: "fixtures",
} as const;
export type Tab = keyof typeof tabs;
