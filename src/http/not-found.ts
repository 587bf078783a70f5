import type { RequestHandler } from "express";
import { devicePath } from "../core/device/device.ts";
import { baseOf, discoveryPath, endpoints } from "../core/endpoints.ts";
import { nearest } from "../core/nearest.ts";
import { HttpError } from "./answer/http-error.ts";
import type { Web } from "./web.ts";

const lastName = (path: string): string => path.split("/").findLast((name) => name !== "") ?? "";

/** 404 that suggests a path. Other services have the same endpoints elsewhere, so the last name of the path tells which one is meant. */
export function notFound({ base, ctx, dynamicRegistration }: Web): RequestHandler {
  const known = [...Object.values(endpoints), devicePath, "/account"];
  const served = known.filter((path) => dynamicRegistration || path !== endpoints.register);
  const byName = new Map(served.map((path) => [lastName(path), base + path]));
  const fix = { text: "", command: ["curl", baseOf(ctx.issuer) + discoveryPath] };
  return (req) => {
    const [path = ""] = req.originalUrl.split("?");
    const meant = byName.get(nearest(lastName(path), byName.keys()) ?? "");
    const question = meant === undefined || meant === path ? "" : ` Did you mean ${meant}?`;
    const list = `All endpoints are listed at ${base}${discoveryPath}`;
    throw new HttpError(404, `there is nothing at ${path}.${question} ${list}`, { fix });
  };
}
