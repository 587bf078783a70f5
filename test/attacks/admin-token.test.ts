import { expect, test } from "vitest";
import { serve } from "../helpers/app.ts";

test.each(["", "short", "with a space in its middle", "with-a-line-break\r\nX: y", "with-ümlauts-in-it-all-over"])(
  "%j cannot be an admin token: the refusal does not repeat it",
  async (adminToken) => {
    const refusal: unknown = await serve({ adminToken }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: "usage" });
    if (adminToken !== "") expect(String(refusal)).not.toContain(adminToken);
  },
);
