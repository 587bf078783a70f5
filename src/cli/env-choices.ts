/** What `idp env` can print. Read before the command is loaded, so it needs nothing else. */

export const formats = ["dotenv", "shell", "github", "json"] as const;
export type Format = (typeof formats)[number];

export const libraries = ["authjs", "spring", "oauth2-proxy", "passport", "express-openid-connect"] as const;
export type Library = (typeof libraries)[number];
