import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openConnection, type Connection } from "../../bench/connection.ts";
import { vi } from "vitest";
import { createIdp, type Idp } from "../../src/index.ts";
import { callback } from "../helpers/client.ts";
import { freePort } from "../helpers/port.ts";

/** Servers with their data on disk, their clock, and users and clients enough for many sequences. */

/** Two users and two clients a sequence; a server lasts for so many sequences. */
const perServer = 50;
const indices = Array.from({ length: 2 * perServer }, (_, index) => index);
const fixtures = {
  users: indices.map((index) => ({ username: `user-${index}` })),
  clients: indices.map((index) => ({
    client_id: `client-${index}`,
    client_secret: `secret-of-client-${index}`,
    redirect_uris: [callback],
  })),
};

interface Place {
  readonly data: string;
  idp: Idp;
  connection: Connection;
  /** How many sequences it was given to; the users and clients of the last one are still untouched. */
  sequences: number;
}

export function createPlaces() {
  let time = Date.parse("2026-01-15T12:00:00.000Z");
  // What passes is real time: records whose end has passed for good are removed.
  vi.spyOn(performance, "now").mockImplementation(() => time);
  let place: Place | null = null;

  async function serve(data: string, port: number): Promise<Pick<Place, "idp" | "connection">> {
    const idp = await createIdp({ data, port, fixtures, now: () => time });
    return { idp, connection: await openConnection(idp.port) };
  }

  async function close(): Promise<void> {
    if (place === null) return;
    place.connection.close();
    await place.idp.close();
    rmSync(place.data, { recursive: true, force: true });
    place = null;
  }

  return {
    close,
    /** For the next sequence. */
    async next(): Promise<Place> {
      if (place?.sequences === perServer) await close();
      if (place === null) {
        const data = mkdtempSync(join(tmpdir(), "idp-sequences-"));
        place = { data, ...(await serve(data, Number(await freePort()))), sequences: 0 };
      }
      place.sequences += 1;
      return place;
    },
    time: () => time,
    pass(seconds: number): void {
      time += seconds * 1000;
    },
    /** Stops the server, and starts one on the same data and port. */
    async restart(): Promise<void> {
      if (place === null) return;
      place.connection.close();
      await place.idp.close();
      Object.assign(place, await serve(place.data, place.idp.port));
    },
  };
}
