import type { RequestHandler } from "express";
import {
  findWorkload,
  workloadJwksPath,
  workloadMetadata,
  workloadJwks,
} from "../../core/protocol/workloads/workloads.ts";
import { discoveryPath } from "../../core/base/endpoints.ts";
import { sendJson } from "../answer/answer.ts";
import { checkedApiHeaders } from "../answer/security-headers.ts";
import { notFound } from "../not-found.ts";
import type { Web } from "../web.ts";

/** What the issuer of a workload serves: its metadata and its keys. Anything else below it is 404. */

type Named = RequestHandler<{ readonly name: string }>;

export const workloadPaths = { discovery: `/w/:name${discoveryPath}`, jwks: `/w/:name${workloadJwksPath}` } as const;

export const workloadDiscovery =
  (web: Web): Named =>
  (req, res, next) => {
    const workload = findWorkload(web.ctx, req.params.name);
    if (workload === null) notFound(web)(req, res, next);
    else sendJson(res, 200, workloadMetadata(workload), checkedApiHeaders);
  };

export const workloadKeys =
  (web: Web): Named =>
  async (req, res, next) => {
    const workload = findWorkload(web.ctx, req.params.name);
    if (workload === null) notFound(web)(req, res, next);
    else sendJson(res, 200, await workloadJwks(web.ctx, workload.name), checkedApiHeaders);
  };
