import {
  isApp,
  isIdp,
  responseAt,
  type AuthorizationResponse,
  type End,
  type Places,
  type Step,
  type Visit,
} from "./visit.ts";

/** How far a visit has come. */
export interface Progress {
  /** Whether it signs in at idp, once. */
  readonly signsIn: boolean;
  /** Whether it keeps the response from the app. */
  readonly holds: boolean;
  readonly steps: Step[];
  request: URL | null;
  response: AuthorizationResponse | null;
  delivered: boolean;
  callback: Step | null;
  changed: boolean;
  /** Who asked so far: apps at several clients may stand behind one another. */
  readonly asked: Set<string>;
}

/** @param response the one that the visit delivers first; null: it opens an address */
export const newProgress = (signsIn: boolean, holds: boolean, response: AuthorizationResponse | null): Progress => ({
  ...{ signsIn, holds, response },
  ...{ steps: [], request: null, delivered: response !== null },
  ...{ callback: null, changed: false, asked: new Set<string>() },
});

/** Who asks with a request: a client, or the address of SAML that it is sent to. */
const askerOf = ({ pathname, searchParams }: URL): string => searchParams.get("client_id") ?? pathname;

/** Notes what came of a request. */
export function noteStep(progress: Progress, step: Step): void {
  progress.steps.push(step);
  if (progress.delivered && step.isApp) progress.callback ??= step;
}

/** Errors after which an app may ask again at once (OpenID Connect Core 3.1.2.6). */
const asksAgain = ["login_required", "interaction_required", "consent_required", "account_selection_required"];

/**
 * Looks at an address before it is opened, and notes the request or the response in it.
 * @param posted the response in the form that is sent there
 * @returns where the visit ends; null: it goes on
 */
export function endBefore(
  places: Places,
  progress: Progress,
  url: URL,
  posted: AuthorizationResponse | null,
): End | null {
  if (isIdp(places, url)) {
    if (!progress.signsIn) return { kind: "idp" };
    if (progress.delivered) {
      const isOther = places.origins === null && !progress.asked.has(askerOf(url));
      if (!isOther && !asksAgain.includes(progress.response?.parameters.get("error") ?? "")) return { kind: "idp" };
      progress.request = null;
      progress.response = null;
      progress.delivered = false;
      progress.callback = null;
      progress.changed = false;
    }
    if (progress.request === null) progress.asked.add(askerOf(url));
    progress.request ??= url;
    return null;
  }
  if (!isApp(places, url)) return { kind: "foreign", url: url.href };
  if (progress.request === null || progress.delivered) return null;
  progress.response = posted ?? responseAt(places, url);
  if (progress.response !== null && progress.holds) return { kind: "held" };
  progress.delivered = progress.response !== null;
  return null;
}

/** What a visit came to. */
export const visitOf = ({ steps, request, response, callback, changed }: Progress, end: End): Visit => ({
  ...{ steps, request, response, callback, changed, end },
});
