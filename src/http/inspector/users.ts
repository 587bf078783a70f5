import { hasLoginClient } from "../../core/records/clients/clients.ts";
import { baseOf } from "../../core/base/endpoints.ts";
import { lookedThrough, pageOfUsers, rolesAndGroups, userStatuses } from "../../core/sign-in/login/picker.ts";
import { editedRoles, tellingRoles } from "../../core/records/users/users.ts";
import type { User } from "../../store/store.ts";
import { bodyParameters } from "../input/params.ts";
import { pageCommand } from "../pages/commands.ts";
import { addUser, statusNamed } from "../pages/login-picker.ts";
import { sendPage, type Page } from "../pages/page-writer.ts";
import type { Renderer } from "../pages/templates/render.ts";
import { formatNumber } from "../pages/templates/texts.ts";
import { changeView, statusFor, tabView, tabPage, type ShowTab } from "./tab.ts";
import { factorsOfUsers } from "./forms.ts";

import type { Web } from "../web.ts";
import type { ChangeName } from "./changes.ts";
import { listData, askedOf, choice, listView, proposal, shownRows } from "./lists.ts";

/** Users: a form for each with what can be changed, and a link to sign in as one of them. */

const changesOf: Readonly<Record<User["status"], readonly ChangeName[]>> = {
  active: ["suspend", "ban", "remove-user"],
  suspended: ["restore", "ban", "remove-user"],
  banned: ["restore", "remove-user"],
};

/** The claims without the roles, which have a field of their own. */
const otherClaims = ({ claims: { roles: _, ...others } }: User): object => others;

/** @param canLogin whether `idp login` signs in here by itself */
function rowOf(web: Web, user: User, canLogin: boolean) {
  const { username, displayName, email, status } = user;
  const hint = new URLSearchParams({ login_hint: username }).toString();
  return {
    ...{ username, displayName, email: email ?? "", status },
    roles: tellingRoles(user),
    rolesText: editedRoles(user).join(", "),
    claims: JSON.stringify(otherClaims(user), null, 2),
    factors: user.factors ?? [],
    edit: changeView(web, "edit-user", username, '{"email":"EMAIL"}'),
    signInHref: web.ctx.settings.try_it ? `${baseOf(web.ctx.address)}/?${hint}` : null,
    signInCommand: canLogin ? pageCommand(web, ["idp", "login", "--user", username, "--approve"]).command : null,
    changes: changesOf[status].map((name) => changeView(web, name, username)),
  };
}

const statuses = Object.fromEntries(userStatuses.map((one) => [one, { key: `status.${one}`, values: {} }]));

/** What the tab of the users shows. */
export type UsersView = Awaited<ReturnType<typeof usersView>>;

async function usersView(...[web, req, res, refusal]: Parameters<ShowTab>) {
  const asked = askedOf(req, bodyParameters(req), ["q", "status", "role", "group"]);
  const { q: query, ...filter } = asked.filters;
  const tab = tabView(web, req, res, refusal);
  const status = statusNamed(web, tab.lang, query);
  const found = await pageOfUsers(web.ctx, {
    ...{ query, page: asked.page, size: shownRows, first: null, status, filter },
  });
  const { users, everybody } = found;
  const { roles, groups } = await rolesAndGroups(web.ctx);
  const canLogin = web.ctx.settings.login !== "password" && (await hasLoginClient(web.ctx));
  return {
    ...tab,
    ...listView(asked, { ...found, rows: users }, [
      choice(asked, ["status", "inspector.status"], statuses),
      proposal(asked, ["role", "inspector.role"], roles),
      proposal(asked, ["group", "inspector.group"], groups),
    ]),
    beyond: everybody > lookedThrough ? { looked: lookedThrough, everybody } : null,
    addCommand: addUser(web),
    add: changeView(web, "add-user", "new", '{"username":"erin"}'),
    users: users.map((user) => rowOf(web, user, canLogin)),
  };
}

export const renderUsers = (renderer: Renderer, view: UsersView): Page =>
  tabPage(renderer, view, "users", (writer) => ({
    ...listData(writer, view),
    allFactors: factorsOfUsers,
    beyond: view.beyond && {
      looked: formatNumber(view.beyond.looked, writer.lang),
      everybody: formatNumber(view.beyond.everybody, writer.lang),
    },
  }));

export const showUsers: ShowTab = async (web, req, res, refusal) => {
  sendPage(res, statusFor(web, refusal), renderUsers(web.renderer, await usersView(web, req, res, refusal)));
};
