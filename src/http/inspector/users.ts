import { baseOf } from "../../core/endpoints.ts";
import { pageOfUsers } from "../../core/login/picker.ts";
import { editedRoles, tellingRoles } from "../../core/users/roles.ts";
import type { User } from "../../store/store.ts";
import { bodyParameters } from "../input/params.ts";
import { pageCommand } from "../pages/commands.ts";
import { addUser } from "../pages/login.ts";
import { sendPage } from "../pages/page-writer.ts";
import type { Web } from "../web.ts";
import type { ChangeName } from "./changes.ts";
import { changeView, searchOf, shownRows, statusFor, tabView, type ShowTab } from "./tab.ts";
import { renderUsers, type UsersView } from "./views.ts";

/** Users: suspend, ban, restore, and a link to sign in as one of them. */

const changesOf: Readonly<Record<User["status"], readonly ChangeName[]>> = {
  active: ["suspend", "ban"],
  suspended: ["restore", "ban"],
  banned: ["restore"],
};

/** The claims without the roles, which have a field of their own. */
const otherClaims = ({ claims: { roles: _, ...others } }: User): object => others;

function rowOf(web: Web, user: User): UsersView["users"][number] {
  const { username, displayName, email, status } = user;
  const hint = new URLSearchParams({ login_hint: username }).toString();
  return {
    ...{ username, displayName, email: email ?? "", status },
    roles: tellingRoles(user),
    rolesText: editedRoles(user).join(", "),
    claims: JSON.stringify(otherClaims(user), null, 2),
    edit: changeView(web, "edit-claims", username, JSON.stringify(user.claims)),
    signInHref: web.ctx.settings.try_it ? `${baseOf(web.ctx.address)}/?${hint}` : null,
    signInCommand: pageCommand(web, ["idp", "login", "--user", username, "--approve"]).command,
    changes: changesOf[status].map((name) => changeView(web, name, username)),
  };
}

export const showUsers: ShowTab = async (web, req, res, refusal) => {
  const query = searchOf(req, bodyParameters(req));
  const { users, total } = await pageOfUsers(web.ctx, { query, page: 1, size: shownRows, first: null });
  const page = renderUsers(web.renderer, {
    ...tabView(web, req, res, refusal),
    query,
    addCommand: addUser(web),
    add: changeView(web, "add-user", "new", '{"username":"erin"}'),
    more: total - users.length,
    users: users.map((user) => rowOf(web, user)),
  });
  sendPage(res, statusFor(web, refusal), page);
};
