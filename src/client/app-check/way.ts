import { isApp, isIdp, responseAt, type AuthorizationResponse, type End, type Places, type Step } from "./browser.ts";

/** How far a visit has come. */
export interface Way {
  /** It signs in at idp, once. */
  readonly signsIn: boolean;
  /** It keeps the response from the app. */
  readonly holds: boolean;
  readonly steps: Step[];
  request: URL | null;
  response: AuthorizationResponse | null;
  delivered: boolean;
}

/** @param response the one that is delivered first */
export const newWay = (signsIn: boolean, holds: boolean, response: AuthorizationResponse | null): Way => ({
  ...{ signsIn, holds, response },
  ...{ steps: [], request: null, delivered: response !== null },
});

/** Errors after which an app may ask again at once (OpenID Connect Core 3.1.2.6). */
const asksAgain = ["login_required", "interaction_required", "consent_required", "account_selection_required"];

/**
 * Looks at an address before it is opened, and notes the request or the response in it.
 * @param posted the response in the form that is sent there
 * @returns where the visit ends; null: it goes on
 */
export function endBefore(places: Places, way: Way, url: URL, posted: AuthorizationResponse | null): End | null {
  if (isIdp(places, url)) {
    if (!way.signsIn) return { kind: "idp" };
    if (way.delivered) {
      if (!asksAgain.includes(way.response?.parameters.get("error") ?? "")) return { kind: "idp" };
      way.request = null;
      way.response = null;
      way.delivered = false;
    }
    way.request ??= url;
    return null;
  }
  if (!isApp(places, url)) return { kind: "foreign", url: url.href };
  if (way.request === null || way.delivered) return null;
  way.response = posted ?? responseAt(places, url);
  if (way.response !== null && way.holds) return { kind: "held" };
  way.delivered = way.response !== null;
  return null;
}
