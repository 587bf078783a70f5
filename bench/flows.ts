import type { Connection } from "./connection.ts";
import { authorizePath, clientSecret, codeIn, expect, form, withCookies, type Kind } from "./sign-in.ts";

/** What is measured, request by request. */

export const flowNames = ["full", "returning", "refresh", "userinfo", "introspect"] as const;
export type FlowName = (typeof flowNames)[number];

/** A user and a client without consent between them so far. */
interface Fresh {
  readonly user: number;
  readonly client: string;
}

/** Each pair once. @throws where there are no more */
export function freshPairs(users: number, clients: number): () => Fresh {
  let made = 0;
  return () => {
    if (made >= users * clients) throw new Error(`all ${made} pairs of a user and a client have been used`);
    const pair = { user: made % users, client: `app${Math.floor(made / users)}` };
    made += 1;
    return pair;
  };
}

/** A flow on one connection, with what it has from before: cookies, tokens. */
type Run = () => Promise<void>;

/** Signs in once, as far as the flow needs it, and gives the function that is measured. */
export type Prepare = (connection: Connection, user: number) => Promise<Run>;

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** @param next whom the full flow signs in */
export function flowsOf(kind: Kind, next: () => Fresh): Readonly<Record<FlowName, Prepare>> {
  const requestTokens = async (connection: Connection, parameters: Record<string, string>): Promise<Tokens> => {
    const { headers, body } = kind.encode({ ...parameters, client_secret: clientSecret });
    const answer = expect(await connection.send("POST", kind.token, headers, body), 200, "token");
    if (!answer.body.includes('"id_token":"')) throw new Error(`token: no ID token in ${answer.body}`);
    return JSON.parse(answer.body) as Tokens;
  };

  const redeem = (connection: Connection, client: string, code: string): Promise<Tokens> =>
    requestTokens(connection, {
      grant_type: "authorization_code",
      code,
      client_id: client,
      redirect_uri: "http://localhost:3000/callback",
    });

  const readUserInfo = async (connection: Connection, token: string): Promise<void> => {
    const answer = await connection.send("GET", kind.userinfo, `Authorization: Bearer ${token}\r\n`);
    expect(answer, 200, "userinfo");
  };

  const signIn = async (connection: Connection, client: string, user: number) => {
    const { code, cookie } = await kind.signIn(connection, client, user);
    return { cookie, tokens: await redeem(connection, client, code) };
  };

  const returning =
    (client: string): Prepare =>
    async (connection, user) => {
      const { cookie } = await signIn(connection, client, user);
      const [path, headers] = [authorizePath(kind, client), withCookies(cookie)];
      return async () => {
        const code = codeIn(kind, await connection.send("GET", path, headers));
        await redeem(connection, client, code);
      };
    };

  return {
    full: async (connection) => async () => {
      const { user, client } = next();
      const { tokens } = await signIn(connection, client, user);
      await readUserInfo(connection, tokens.access_token);
    },
    returning: returning("app"),
    refresh: async (connection, user) => {
      let { tokens } = await signIn(connection, "app", user);
      return async () => {
        const { refresh_token: token } = tokens;
        tokens = await requestTokens(connection, {
          grant_type: "refresh_token",
          refresh_token: token,
          client_id: "app",
        });
      };
    },
    userinfo: async (connection, user) => {
      const { tokens } = await signIn(connection, "app", user);
      return () => readUserInfo(connection, tokens.access_token);
    },
    introspect: async (connection, user) => {
      const { tokens } = await signIn(connection, "app", user);
      const { headers, body } = form({
        token: tokens.access_token,
        client_id: "app",
        client_secret: clientSecret,
      });
      return async () => {
        const answer = await connection.send("POST", kind.introspect, headers, body);
        if (!expect(answer, 200, "introspect").body.includes('"active":true')) {
          throw new Error(`introspect: not active: ${answer.body}`);
        }
      };
    },
  };
}
