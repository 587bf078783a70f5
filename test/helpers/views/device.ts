import type { DeviceView } from "../../../src/http/pages/device.ts";
import { openid, email, orders } from "./scopes.ts";
import { common, demoApp } from "./shared.ts";

/** A view of the device page in every state. */

const device: DeviceView = {
  ...common,
  state: "enter",
  action: "/device",
  csrf: "c5rf",
  typed: "",
  userCode: "",
  usableUntil: null,
  client: null,
  documentHost: null,
  scopes: [],
  username: "",
};

export const deviceViews = {
  "device-enter": device,
  "device-invalid": { ...device, state: "invalid", typed: "WDJB-MJHX" },
  "device-expired": { ...device, state: "expired", typed: "WDJB-MJHT" },
  "device-used": { ...device, state: "used", typed: "WDJB-MJHT" },
  "device-confirm": {
    ...device,
    state: "confirm",
    userCode: "WDJB-MJHT",
    usableUntil: "2026-11-20T12:14:00.000Z",
    client: demoApp,
    documentHost: "shelf.example",
    scopes: [openid, email, orders],
    username: "alice",
  },
  "device-done": { ...device, state: "done" },
  "device-denied": { ...device, state: "denied" },
} satisfies Record<string, DeviceView>;
