import type { Context } from "../context.ts";
import { isObject } from "../../text/json-object.ts";
import { readSource, type AnyFixtures } from "../fixture-files/source.ts";
import { seedNow } from "./seed-now.ts";
import { checkFixtures, type SeedOptions, type SeedResult } from "./seed.ts";

/** A fixture file that a reset goes back to. */
export interface FixtureFileView {
  /** The given name; "inline" or "stdin" for text without a file. */
  readonly file: string;
  /** The ids of the clients that it defines. */
  readonly clients: readonly string[];
}

/** The fixture files in use. The built-in demo and the objects of a program are not files. */
export async function listFixtureFiles(ctx: Pick<Context, "fixtures">): Promise<readonly FixtureFileView[]> {
  const documents = await Promise.all(ctx.fixtures.sources().map(readSource));
  return documents.flatMap(({ name, value }) => {
    if (name === null) return [];
    const clients: unknown = isObject(value) ? value["clients"] : undefined;
    const ids = (Array.isArray(clients) ? clients : []).map(
      (client: unknown) => Object(client) as { client_id?: unknown },
    );
    return [
      { file: name, clients: ids.flatMap(({ client_id }) => (typeof client_id === "string" ? [client_id] : [])) },
    ];
  });
}

const namesOf = (sources: readonly AnyFixtures[]): readonly string[] =>
  sources.flatMap((source) => ("name" in source && source.name !== null ? [source.name] : []));

/** The names of the fixture files in use, without "inline" and "stdin", which are none. */
export const fixtureFiles = ({ fixtures }: Pick<Context, "fixtures">): readonly string[] =>
  namesOf(fixtures.sources()).filter((name) => /\.\w+$/.test(name));

/**
 * Reads the fixtures in use again and checks them.
 * @returns the names of their files
 * @throws {OperationError} invalid, with every problem
 */
export const checkFixturesInUse = ({
  fixtures,
  settings,
}: Pick<Context, "fixtures" | "settings">): Promise<{ readonly files: readonly string[] }> =>
  fixtures.inTurn(async () => {
    const sources = await fixtures.latest();
    await checkFixtures(sources, settings);
    return { files: namesOf(sources) };
  });

/** Reads the fixtures in use again and applies them, as `idp seed` applies others. @throws {OperationError} invalid, with every problem */
export const applyFixturesInUse = (ctx: Context, progress?: SeedOptions["progress"]): Promise<SeedResult> =>
  ctx.fixtures.inTurn(async () => seedNow(ctx, await ctx.fixtures.latest(), progress));
