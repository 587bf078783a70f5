import type { Request, Response } from "express";
import type { OpenIssuer } from "../../core/records/issuers/issuer-view.ts";
import { OperationError } from "../../core/base/errors.ts";
import { inspectorAddress } from "../../core/records/inspector/access.ts";
import { redirect } from "../answer/answer.ts";
import { single } from "../input/params.ts";
import { pageCommand } from "../pages/commands.ts";
import type { Web } from "../web.ts";
import { changeOf, inspectorHref, operatorOf } from "./access.ts";

/**
 * The other issuers of the process, each with a button that opens its inspector. The cookie is for one issuer's path, so the button makes a
 * key, as `idp open` does.
 */

/** Below the inspector. */
export const issuerPath = "issuer";

/** How the form names an issuer. The first one is "/", which no name can be. */
const valueOf = ({ name }: Pick<OpenIssuer, "name">): string => name ?? "/";

const others = (web: Web): readonly OpenIssuer[] => [...web.ctx.issuers.open()].filter(({ name }) => name !== web.name);

export const issuersView = (web: Web) => ({
  /** The name of this one; null: the first one. */
  name: web.name,
  /** Where the form that opens another one is posted to. */
  action: inspectorHref(web, issuerPath),
  others: others(web).map(({ name, ctx: { issuer } }) => ({
    ...{ name, issuer, value: valueOf({ name }) },
    command: pageCommand(web, ["idp", "open"], name).command,
  })),
});

/** Leads the browser to the inspector of another issuer, with a key. */
export const postIssuer = (web: Web) => async (req: Request, res: Response) => {
  const value = single(changeOf(web, req), "issuer") ?? "";
  const opener = operatorOf(web, req);

  const other = others(web).find((one) => valueOf(one) === value);
  if (other === undefined || opener === null) throw new OperationError("not_found", `there is no issuer "${value}"`);
  const { pathname, search } = new URL((await inspectorAddress(other.ctx, opener)).url);
  // Under the host name that the browser uses.
  redirect(res, pathname + search);
};
