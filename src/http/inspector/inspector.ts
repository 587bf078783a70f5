/*
 * http/inspector: the pages below `/_idp/<random>/`, on which a person sees what the commands show and does what they do.
 *
 * sign-ins/ shows what the ledger holds: flows.ts groups its requests, steps.ts says what happened in each.
 *
 * access.ts lets in whoever has the cookie. tab.ts has what all tabs share. change.ts takes the form that changes something, and changes.ts
 * lists the changes. A file for each tab makes its view. issuers.ts leads to the other issuers of the process.
 */
import type { Request, Response } from "express";
import { roles, type Role } from "../../core/records/operators/roles.ts";
import { leadTo } from "../answer/answer.ts";
import { formBody } from "../input/bodies.ts";
import { scriptPath } from "../pages/templates/render.ts";
import type { Route } from "../route.ts";
import type { Web } from "../web.ts";
import { tabs, asAsked, insidersOnly, inspectorHref, signInPath, takeKey, type Tab } from "./access.ts";
import { changePath, type ShowTab } from "./tab.ts";
import { showFixtures } from "./fixtures.ts";
import { showGrants } from "./grants.ts";
import { showClients } from "./clients.ts";
import { showUsers } from "./users.ts";
import { getChange, postChange } from "./change.ts";
import { issuerPath, postIssuer } from "./issuers.ts";
import { getSignIn } from "./sign-ins/sign-in.ts";
import { showSignIns } from "./sign-ins/sign-ins.ts";
import { getScript, getStream, streamPath } from "./sign-ins/stream.ts";
import { showTesting } from "./testing.ts";
import { postTokens, showTokens } from "./tokens.ts";

const shows: Readonly<Record<Tab, ShowTab>> = {
  "sign-ins": showSignIns,
  users: showUsers,
  clients: showClients,
  grants: showGrants,
  tokens: showTokens,
  testing: showTesting,
  fixtures: showFixtures,
};

/** Each role has an inspector at a path of its own: a page of one role cannot use what a browser may do in another. */
export const inspectorRoutes = (web: Web): readonly Route[] =>
  roles.flatMap((inspectorOf) => routesOf({ ...web, inspectorOf }, inspectorOf));

function routesOf(web: Web, role: Role): readonly Route[] {
  const page = { kind: "page", name: "inspector", guard: [insidersOnly(web)], body: formBody } as const;
  const at = (path: string): string => web.ctx.inspector.pathOf(role) + path;
  const tab = (name: Tab): Route => ({
    ...page,
    path: at(tabs[name]),
    get: (req: Request, res: Response) => shows[name](asAsked(web, req), req, res, null),
  });
  return [
    { ...tab("sign-ins"), guard: [takeKey(web), insidersOnly(web)] },
    { ...page, path: at(`${signInPath}:id`), get: getSignIn(web) },
    { ...page, path: at(streamPath), get: getStream(web) },
    { kind: "public", name: "stylesheet", path: scriptPath, get: getScript(web) },
    tab("users"),
    tab("clients"),
    tab("grants"),
    { ...tab("tokens"), post: postTokens(web) },
    tab("testing"),
    tab("fixtures"),
    { ...page, path: at(changePath), get: getChange(web), post: postChange(web, shows) },
    { ...page, path: at(issuerPath), get: leadTo(inspectorHref(web)), post: postIssuer(web) },
  ];
}
