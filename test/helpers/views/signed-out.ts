import type { LogoutView, SignedOutView } from "../../../src/http/pages/views.ts";
import { common, demoApp } from "./shared.ts";

/** A view of the sign-out pages in every state. */

const signedOut: SignedOutView = {
  ...common,
  state: "done",
  back: { name: "Demo App", href: "http://localhost:3000/" },
  stays: null,
  signInHref: "/account",
};

export const logoutViews = {
  logout: {
    ...common,
    action: "/interaction/f7Q2/logout",
    csrf: "c5rf",
    client: demoApp,
    username: "alice",
    why: "no-hint",
  },
  "logout-unknown": {
    ...common,
    action: "/interaction/f7Q2/logout",
    csrf: "c5rf",
    client: null,
    username: null,
    why: "other-user",
  },
} satisfies Record<string, LogoutView>;

export const signedOutViews = {
  "signed-out": signedOut,
  "signed-out-no-hint": { ...signedOut, stays: "no-hint" },
  "signed-out-not-registered": { ...signedOut, stays: "not-registered" },
  "signed-out-already": { ...signedOut, state: "already", back: null },
  "signed-out-all-sessions": { ...signedOut, state: "all-sessions", back: null },
} satisfies Record<string, SignedOutView>;
