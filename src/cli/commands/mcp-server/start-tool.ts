import { OperationError } from "../../../core/base/errors.ts";
import type { Tool } from "./tool.ts";

/** A server in memory, with the fixtures of the folder, for as long as the client is there. */
export const startTool = (): Tool => ({
  name: "start",
  description:
    "Start a server in memory, with the fixtures of this folder or the demo; it ends with this client. Where a server runs already, say where. The command: idp start --memory",
  role: "reader",
  hints: { opens: true },
  schema: () =>
    Promise.resolve({
      type: "object",
      properties: {
        port: {
          type: "integer",
          minimum: 0,
          maximum: 65_535,
          description: "Absent: 4370, the usual one; 0: a free one",
        },
      },
      additionalProperties: false,
    }),
  run: async (session, { port, ...others }) => {
    const isPort =
      port === undefined || (typeof port === "number" && Number.isInteger(port) && port >= 0 && port <= 65_535);
    if (!isPort || Object.keys(others).length > 0) {
      throw new OperationError("usage", "this tool has one field: port, a number from 0 to 65535", {});
    }
    const { issuer, isNew } = await session.start(port);
    const line = isNew
      ? `Started at ${issuer}, in memory. It ends with this client.`
      : `A server runs already at ${issuer}.`;
    return { lines: [line], data: { issuer, started: isNew } };
  },
});
